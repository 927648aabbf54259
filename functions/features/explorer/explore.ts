import { ApiError } from '#api/errors.ts';
import type { Grants } from '#api/permissions/grants.ts';
import { eachName } from '#platform/store/name-index.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { getProjects } from '#resources/projects/records.ts';
import { type NameItem, namesOf } from '#resources/workspaces/names.ts';
import { getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { currentRuns, forgetFacts, inParallel, isCurrent, readFacts, refreshFacts } from './facts.ts';
import type { Row } from './fields.ts';
import { inStates } from './instances.ts';
import { filterRows, type Query, sortRows } from './query.ts';
import { type Explored, moduleRows, providerRows, resourceRow, versionRows, workspaceRow } from './rows.ts';

/** Answers queries with rows about the part of the organization that the caller may see. */

/** Maximum number that fits into the function's memory. */
const maxWorkspaces = 10_000;
/** Maximum number of states to read; each is an object. */
const maxStates = 2000;
/** Maximum time for updating facts. The rest of API Gateway's 30 s remains for the query. */
const refreshMs = 12_000;

const tooMany = (detail: string): ApiError => new ApiError(422, [{ title: 'too many workspaces', detail }]);

const allWorkspaces = async (organization: string): Promise<Workspace[]> => {
  const names = new Map<string, string>();
  for await (const entries of eachName<NameItem>(namesOf(organization))) {
    for (const { workspaceId, name } of entries) names.set(workspaceId, name);
    if (names.size > maxWorkspaces) {
      throw tooMany(
        `The explorer supports organizations of at most ${maxWorkspaces} workspaces. List the workspaces instead.`,
      );
    }
  }
  const ids = [...names.keys()];
  const pieces = Array.from({ length: Math.ceil(ids.length / 100) }, (_, i) => ids.slice(i * 100, i * 100 + 100));
  const all = (await inParallel(pieces, getWorkspaces)).flat();
  // An interrupted rename leaves a pointer with the former name.
  return all.filter(
    (workspace) => workspace.organization === organization && names.get(workspace.id) === workspace.name,
  );
};

const projectsOf = async (workspaces: Workspace[]) => {
  const ids = [...new Set(workspaces.map(({ projectId }) => projectId))];
  return new Map((await getProjects(ids)).map((project) => [project.id, project]));
};

export interface Explorer {
  explored: Explored[];
  /** The content of some states is not recorded yet: the client should retry. */
  isIndexing: boolean;
}

/** Workspaces that the caller may see, ordered by name, with the details that their permissions allow. */
export const explore = async ({ name, externalId }: Organization, grants: Grants): Promise<Explorer> => {
  const deadline = Date.now() + refreshMs;
  const [all, facts] = await Promise.all([allWorkspaces(name), readFacts(name)]);
  const ids = new Set(all.map(({ id }) => id));
  await inParallel(
    [...facts.keys()].filter((id) => !ids.has(id)),
    (id) => forgetFacts(name, id),
  );
  const granted = await grants.onWorkspaces(name, all);
  // Environments and templates have lists of their own.
  const visible = all.filter(({ id, managedBy }) => !managedBy && granted(id).has('workspace:read'));
  const [projects, runs] = await Promise.all([projectsOf(visible), currentRuns(visible, facts)]);
  const remaining = await refreshFacts(name, visible, { facts, runs }, deadline);
  const explored = visible.map((workspace) => {
    const { id } = workspace;
    const current = facts.get(id);
    const shown = granted(id).has('state:read') && isCurrent(current, workspace) ? current : undefined;
    const run = granted(id).has('run:read') ? runs.get(id) : undefined;
    return { workspace, project: projects.get(workspace.projectId), externalId, facts: shown, run };
  });
  return { explored, isIndexing: remaining > 0 };
};

/** Fields of workspaces in rows of resources: filters on these exclude workspaces before their states are read. */
const ofWorkspace: Record<string, string> = {
  workspace_name: 'workspace_name',
  workspace_external_id: 'external_id',
  project_name: 'project_name',
  project_external_id: 'project_external_id',
};

const resourceRows = async (explored: Explored[], query: Query): Promise<Row[]> => {
  const filters = query.filters.flatMap((filter) => {
    const field = ofWorkspace[filter.field];
    return field ? [{ ...filter, field }] : [];
  });
  const fits = (item: Explored) => filterRows([workspaceRow(item)], { type: 'workspaces', filters }).length > 0;
  const matching = explored.filter((item) => item.workspace.state && item.facts && fits(item));
  if (matching.length > maxStates) {
    throw tooMany(
      `The query needs the states of ${matching.length} workspaces; the maximum is ${maxStates}. Filter by ${Object.keys(ofWorkspace).join(', ')}.`,
    );
  }
  const stateIds = matching.map(({ workspace }) => workspace.state?.id ?? '');
  const rows = await inStates(stateIds, (instances, i) =>
    filterRows(
      instances.map((instance) => resourceRow(matching[i] as Explored, instance)),
      query,
    ),
  );
  return rows.flat();
};

const rowsOf = async (explored: Explored[], query: Query): Promise<Row[]> => {
  if (query.type === 'resources') return resourceRows(explored, query);
  const rows = {
    workspaces: () => explored.map(workspaceRow),
    tf_versions: () => versionRows(explored),
    providers: () => providerRows(explored),
    modules: () => moduleRows(explored),
  }[query.type]();
  return filterRows(rows, query);
};

/** Whether a query needs the content of states. */
const needsFacts = ({ type, filters, fields, sort }: Query): boolean => {
  if (type === 'tf_versions') return false;
  if (type !== 'workspaces') return true;
  const named = [...filters.map(({ field }) => field), ...fields, ...sort.map((name) => name.replace(/^-/, ''))];
  return fields.length === 0 || named.some((name) => ofState.has(name));
};

const ofState = new Set([
  'current_rum_count',
  'module_count',
  'modules',
  'provider_count',
  'providers',
  'state_version_terraform_version',
]);

export interface Found {
  /** All matching rows, in order. */
  rows: Row[];
  /** Some fields are not recorded yet: the client should retry. */
  isIndexing: boolean;
}

/** @throws {ApiError} 422 when the query covers too many workspaces */
export const find = (explorer: Explorer, query: Query): Promise<Found> =>
  rowsOf(explorer.explored, query).then((rows) => ({
    rows: sortRows(rows, query.sort),
    isIndexing: explorer.isIndexing && needsFacts(query),
  }));

/** Ids of the workspaces in the result of a query of type workspaces. */
export const workspaceIdsIn = ({ rows }: Found): string[] => rows.map((row) => String(row.external_id));
