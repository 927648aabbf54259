import type { Signal } from '@preact/signals';
import { useLive } from '../live.ts';
import { all } from '../session.ts';

interface FilterProps {
  label: string;
  /** Name of having no filter. */
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

export const ProjectFilter = ({ organization, chosen }: { organization: string; chosen: Signal<string> }) => {
  const projects = useLive(
    `projects/${organization}`,
    async () => (await all<'projects'>(`/organizations/${organization}/projects`)).data,
    () => undefined,
  );
  const options = (projects.value ?? []).map(({ id, attributes }): [string, string] => [id, attributes.name]);
  return options.length < 2 ? null : <Filter label="Project" all="All projects" chosen={chosen} options={options} />;
};
