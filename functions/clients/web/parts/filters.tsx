import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLive } from '../live.ts';
import { all } from '../session.ts';

interface FilterProps {
  label: string;
  /** Label of the option without a filter. */
  all: string;
  chosen: Signal<string>;
  options: [value: string, name: string][];
}

export const Filter = ({ label, all: none, chosen, options }: FilterProps) =>
  options.length === 0 ? null : (
    <select
      aria-label={label}
      value={chosen.value}
      onChange={(event) => {
        chosen.value = event.currentTarget.value;
      }}
    >
      <option value="">{none}</option>
      {options.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  );

/** Options for values, sorted, without duplicates and empty ones. */
export const optionsOf = (values: string[], compare?: (a: string, b: string) => number): [string, string][] =>
  [...new Set(values)]
    .filter(Boolean)
    .sort(compare)
    .map((value) => [value, value]);

/** Project names of an organization, by id. */
export const useProjects = (organization: string): Map<string, string> => {
  const live = useLive(
    `projects/${organization}`,
    async () => (await all<'projects'>(`/organizations/${organization}/projects`)).data,
    () => undefined,
  );
  return useMemo(() => new Map((live.value ?? []).map(({ id, attributes }) => [id, attributes.name])), [live.value]);
};

export const ProjectFilter = ({ projects, chosen }: { projects: Map<string, string>; chosen: Signal<string> }) =>
  projects.size < 2 ? null : (
    <Filter label="Project" all="All projects" chosen={chosen} options={[...projects.entries()]} />
  );
