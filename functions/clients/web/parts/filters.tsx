import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useList } from '../live.ts';

interface FilterProps {
  label: string;
  /** Label of the option without a filter; absent: one of the options is always chosen. */
  all?: string;
  chosen: { value: string };
  options: readonly (readonly [value: string, name: string])[];
}

export const Filter = ({ label, all: none, chosen, options }: FilterProps) =>
  options.length === 0 ? null : (
    <select aria-label={label} value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
      {none && <option value="">{none}</option>}
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
  const live = useList<'projects'>(`/organizations/${organization}/projects`);
  return useMemo(() => new Map((live.value ?? []).map(({ id, attributes }) => [id, attributes.name])), [live.value]);
};

export const ProjectFilter = ({ projects, chosen }: { projects: Map<string, string>; chosen: Signal<string> }) =>
  projects.size < 2 ? null : (
    <Filter label="Project" all="All projects" chosen={chosen} options={[...projects.entries()]} />
  );

interface SearchProps {
  label: string;
  placeholder?: string;
  text: Signal<string>;
}

export const Search = ({ label, placeholder = label, text }: SearchProps) => (
  <input
    type="search"
    aria-label={label}
    placeholder={placeholder}
    value={text.value}
    onInput={(event) => (text.value = event.currentTarget.value)}
  />
);

interface SwitchProps<T extends string> {
  label: string;
  options: readonly T[];
  chosen: { value: T };
}

/** Buttons, one of them pressed. */
export const Switch = <T extends string>({ label, options, chosen }: SwitchProps<T>) => (
  <fieldset class="switch" aria-label={label}>
    {options.map((text) => (
      <button key={text} type="button" aria-pressed={chosen.value === text} onClick={() => (chosen.value = text)}>
        {text}
      </button>
    ))}
  </fieldset>
);
