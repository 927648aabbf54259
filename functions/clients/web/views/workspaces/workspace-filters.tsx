import { problemsOf } from '#clients/client/text/health.ts';
import { useQuery } from '#clients/web/location.ts';
import { Filter, optionsOf, ProjectFilter, Search, type useProjects } from '#clients/web/parts/filters.tsx';
import { since } from '#clients/web/parts/status.tsx';
import { related } from '#clients/web/session.ts';
import { natural, wordsOf } from '#clients/web/text/lists.ts';
import { textOfTag } from '#clients/web/text/tags.ts';
import { type Group, type Row, urgencyOf } from '#clients/web/text/workspace-rows.ts';

/** Search, filters and sort order of the workspace list, which are kept in the address. */

const groups: [Group, string][] = [
  ['attention', 'Needs attention'],
  ['bad', 'Errored'],
  ['running', 'Running'],
  ['good', 'Applied'],
  ['idle', 'Idle'],
];

const tagsOf = ({ workspace }: Row): string[] => workspace.attributes.tags.map(textOfTag);

/** Sort orders; default: attention first. */
const orders: Record<string, [name: string, compare: (a: Row, b: Row) => number]> = {
  name: ['Name', (a, b) => natural.compare(nameOf(a), nameOf(b))],
  changed: ['Last changed', (a, b) => changedAt(b) - changedAt(a)],
  resources: [
    'Most resources',
    (a, b) => b.workspace.attributes['resource-count'] - a.workspace.attributes['resource-count'],
  ],
};

const nameOf = ({ workspace }: Row): string => workspace.attributes.name;
const changedAt = ({ workspace, run }: Row): number =>
  Date.parse(run ? since(run) : workspace.attributes['latest-change-at']);
const attentionFirst = (a: Row, b: Row): number =>
  urgencyOf(a) - urgencyOf(b) || changedAt(b) - changedAt(a) || natural.compare(nameOf(a), nameOf(b));

export const useWorkspaceFilters = (rows: Row[]) => {
  const search = useQuery('search');
  const group = useQuery('state');
  const tag = useQuery('tag');
  const project = useQuery('project');
  const health = useQuery('health');
  const order = useQuery('sort');
  const words = wordsOf(search.value);
  /** Rows of all groups. */
  const matching = rows.filter((row) => {
    const { attributes } = row.workspace;
    const text = [attributes.name, attributes.description ?? '', ...tagsOf(row)].join(' ').toLowerCase();
    return (
      (!tag.value || tagsOf(row).includes(tag.value)) &&
      (!health.value || problemsOf(row.health, row.run).some(({ text }) => text === health.value)) &&
      (!project.value || related(row.workspace, 'project') === project.value) &&
      words.every((word) => text.includes(word))
    );
  });
  const shown = matching
    .filter((row) => !group.value || group.value === row.group)
    .sort(orders[order.value]?.[1] ?? attentionFirst);
  /** Changes with every filter, but not with the order. */
  const choice = [search, group, tag, project, health].join(' ');
  return { search, group, tag, project, health, order, matching, shown, choice };
};

type Filters = ReturnType<typeof useWorkspaceFilters>;

interface FieldsProps {
  filters: Filters;
  rows: Row[];
  projects: ReturnType<typeof useProjects>;
}

export const FilterFields = ({ filters: { search, project, tag, health, order }, rows, projects }: FieldsProps) => (
  <>
    <Search label="Search by name, description or tag" placeholder="Search by name or tag" text={search} />
    <ProjectFilter projects={projects} chosen={project} />
    <Filter label="Tag" all="All tags" chosen={tag} options={optionsOf(rows.flatMap(tagsOf))} />
    <Filter
      label="Health"
      all="Any health"
      chosen={health}
      options={optionsOf([
        health.value,
        ...rows.flatMap((row) => problemsOf(row.health, row.run).map(({ text }) => text)),
      ])}
    />
    <Filter
      label="Sort"
      all="Attention first"
      chosen={order}
      options={Object.entries(orders).map(([value, [name]]) => [value, name])}
    />
  </>
);

export const GroupFilter = ({ matching, group: chosen }: Pick<Filters, 'matching' | 'group'>) => (
  <fieldset class="chips" aria-label="Show only">
    {groups.map(([group, name]) => {
      const n = matching.filter((row) => row.group === group).length;
      return n === 0 && chosen.value !== group ? null : (
        <button
          key={group}
          type="button"
          class="chip"
          aria-pressed={chosen.value === group}
          onClick={() => (chosen.value = chosen.value === group ? '' : group)}
        >
          {name} {n}
        </button>
      );
    })}
  </fieldset>
);
