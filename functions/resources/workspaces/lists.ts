import { type Key, keys } from '#platform/store/keys.ts';
import { eachName, findNames, type NameCounts, type Names, pageOfNames } from '#platform/store/name-index.ts';
import { type Paging, type ScanResult, scan } from '#platform/store/scan.ts';
import { query } from '#platform/store/table.ts';
import { getProjects } from '#resources/projects/records.ts';
import type { Tag } from '#resources/projects/tags.ts';
import { type NameItem, namesOf, namesOfProject } from './names.ts';
import { entryOf, getWorkspaces, type Workspace } from './records.ts';

/** Lists of workspaces, ordered by name or by latest change. */

/** Skips leftover entries of an interrupted rename or move. */
const named = async (entries: NameItem[], projectId?: string): Promise<Workspace[]> => {
  const names = new Map(entries.map(({ workspaceId, name }) => [workspaceId, name]));
  const workspaces = await getWorkspaces([...names.keys()]);
  return workspaces.filter(
    (workspace) =>
      names.get(workspace.id) === workspace.name && (projectId === undefined || workspace.projectId === projectId),
  );
};

/** All workspaces of the organization. Reads the page. */
export const listWorkspaces = async (
  organization: NameCounts & { name: string },
  paging: Paging,
  descending: boolean,
): Promise<ScanResult<Workspace>> => {
  const names = { ...namesOf(organization.name), descending };
  const listed = await pageOfNames<NameItem>(organization, 'workspace', names, paging);
  return { ...listed, items: await named(listed.items) };
};

/**
 * All workspaces of the organization by latest change. Reads the keys up to the page, and the page. On AWS a workspace
 * that changed within the last second may still have its former place.
 */
export const listByChange = async (
  { name, workspaceCount = 0 }: NameCounts & { name: string },
  { page, size }: Paging,
  descending: boolean,
): Promise<ScanResult<Workspace>> => {
  const index = { pk: name, index: 'changed', reverse: descending, limit: page * size + 1 } as const;
  const entries = await query<Key>(index);
  const from = (page - 1) * size;
  const ids = entries.slice(from, from + size).map(({ pk }) => pk.slice('WS#'.length));
  const more = entries.length > page * size;
  return {
    items: await getWorkspaces(ids),
    total: more ? Math.max(workspaceCount, entries.length) : entries.length,
    more,
  };
};

/** All workspaces of the organization or of `within` with their tags, in batches. Reads every name. */
export async function* eachTagged(
  organization: string,
  within?: WorkspaceFilter['within'],
): AsyncGenerator<NameItem[]> {
  if (within) yield entriesWithin(organization, within);
  else yield* eachName<NameItem>(namesOf(organization));
}

/** Keys of every tag in the organization. Reads every name. */
export const tagKeysOf = async (organization: string): Promise<Set<string>> => {
  const keys = new Set<string>();
  for await (const page of eachTagged(organization)) {
    for (const { tags } of page) for (const { key } of tags) keys.add(key);
  }
  return keys;
};

export interface WorkspaceFilter {
  /** Prefix of every matching name, ignoring case. */
  beginning?: string;
  /** Limits the list to one project. */
  projectId?: string;
  /** Whether the workspace can match, judged by its index entry. */
  mayFit(entry: Pick<NameItem, 'name' | 'tags' | 'managed'>): boolean;
  /** The filter uses tags. A project's tags count too, unless the workspace overrides them. */
  byTags?: boolean;
  descending?: boolean;
  /** Limits the search to these workspaces and projects; absent: the whole organization. */
  within?: WorkspaceScope;
}

export interface WorkspaceScope {
  workspaceIds: Set<string>;
  projectIds: Set<string>;
}

/** Entries of all of them, ordered by name. Reads the workspaces, and the names of each project. */
const entriesWithin = async (
  organization: string,
  { workspaceIds, projectIds }: WorkspaceScope,
): Promise<NameItem[]> => {
  const entries = new Map<string, NameItem>();
  for (const projectId of projectIds) {
    for await (const page of eachName<NameItem>(namesOfProject(projectId))) {
      for (const entry of page) entries.set(entry.sk, entry);
    }
  }
  for (const workspace of await getWorkspaces([...workspaceIds])) {
    const { name, updatedAt } = workspace;
    const key = keys.workspaceName(organization, name);
    entries.set(key.sk, { ...key, ...entryOf(workspace.id, workspace), name, at: updatedAt });
  }
  return [...entries.values()].sort((a, b) => (a.sk < b.sk ? -1 : 1));
};

/** Adds the tags inherited from projects. Reads each project once. */
const withProjectTags = () => {
  const tagsByProject = new Map<string, Tag[]>();
  return async (entries: NameItem[]): Promise<NameItem[]> => {
    const projectIds = [...new Set(entries.map(({ projectId }) => projectId))].filter((id) => !tagsByProject.has(id));
    for (const id of projectIds) tagsByProject.set(id, []);
    for (const { id, tags = [] } of await getProjects(projectIds)) tagsByProject.set(id, tags);
    return entries.map((entry) => {
      const own = new Set(entry.tags.map(({ key }) => key));
      const inherited = (tagsByProject.get(entry.projectId) ?? []).filter(({ key }) => !own.has(key));
      return { ...entry, tags: [...entry.tags, ...inherited] };
    });
  };
};

/**
 * Matching workspaces; `fits` sees the records. Reads every workspace that the filter checks
 * (platform/store/scan.ts).
 */
export const findWorkspaces = <R>(
  organization: string,
  filter: WorkspaceFilter,
  paging: Paging,
  then: { records(workspaces: Workspace[]): R[] | Promise<R[]>; fits?(record: R): boolean },
): Promise<ScanResult<R>> => {
  const { beginning = '', byTags, descending, mayFit, projectId, within } = filter;
  const { pk, prefix } = projectId === undefined ? namesOf(organization) : namesOfProject(projectId);
  const names: Names = { pk, prefix: `${prefix}${beginning.toLowerCase()}`, descending };
  const tagged = withProjectTags();
  const looking = {
    narrow: async (entries: NameItem[]) => (byTags ? await tagged(entries) : entries).filter(mayFit),
    // A filter may name a project of another organization.
    records: async (entries: NameItem[]) =>
      then.records((await named(entries, projectId)).filter((workspace) => workspace.organization === organization)),
    fits: then.fits,
  };
  if (!within) return findNames<NameItem, R>(names, looking, paging);
  return entriesWithin(organization, within).then((entries) => {
    const candidates = entries.filter(
      (entry) => entry.sk.startsWith(names.prefix) && (projectId === undefined || entry.projectId === projectId),
    );
    if (descending) candidates.reverse();
    return scan({ ...looking, read: async (limit) => candidates.splice(0, limit) }, paging);
  });
};

/** Whether any workspace is in the project. Continues past leftover entries. */
export const hasWorkspacesIn = async ({ id }: { id: string }): Promise<boolean> => {
  const [first] = await named(await query<NameItem>({ ...namesOfProject(id), limit: 1 }), id);
  if (first) return true;
  for await (const workspaces of eachWorkspaceIn(id)) if (workspaces.length) return true;
  return false;
};

/** All workspaces of the project, in batches. */
export async function* eachWorkspaceIn(projectId: string): AsyncGenerator<Workspace[]> {
  for await (const entries of eachName<NameItem>(namesOfProject(projectId))) yield named(entries, projectId);
}
