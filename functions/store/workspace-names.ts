import { type Key, keys } from './keys.ts';
import { create, get, put, queryAll, remove } from './table.ts';

/** A plain tag has the value ''. Kept in lists, because objects have keys of their own (`constructor`). */
export interface Tag {
  key: string;
  value: string;
}

/**
 * Names of an organization's workspaces: what makes them unique, and the index that lists are made from. A name is
 * written before its workspace and removed after it, so a caller that dies in between leaves a name without a workspace
 * of that name; the next to want the name takes it over.
 */
export interface NameEntry {
  workspaceId: string;
  projectId: string;
  tags: Tag[];
}

/** `at`: when it was claimed. */
type NameItem = NameEntry & Key & { at: string };

/** A rename is done well before that; see {@link claimName}. */
const renameSeconds = 60;

const item = (organization: string, name: string, entry: NameEntry): NameItem => ({
  ...keys.workspaceName(organization, name),
  ...entry,
  at: new Date().toISOString(),
});

export const nameEntry = (organization: string, name: string): Promise<NameEntry | undefined> =>
  get<NameItem>(keys.workspaceName(organization, name));

/** All names of the organization, in the order of names. 1 read unit per 4 KB, about 25 names. */
export const listNames = async (organization: string): Promise<(NameEntry & { name: string })[]> => {
  const items = await queryAll<NameItem>({ pk: `ORG#${organization}`, prefix: 'WSNAME#', consistent: true });
  return items.map(({ sk, workspaceId, projectId, tags }) => ({
    name: sk.slice('WSNAME#'.length),
    workspaceId,
    projectId,
    tags,
  }));
};

/**
 * The id of the workspace that now may bear the name: the given one, or the one an earlier caller that died had in mind
 * (whoever creates that item first has the name). Undefined when the name is taken.
 */
export const claimName = async (organization: string, name: string, entry: NameEntry): Promise<string | undefined> => {
  const wanted = item(organization, name, entry);
  if (await create({ ...wanted })) return entry.workspaceId;
  const holder = await get<NameItem>(keys.workspaceName(organization, name));
  if (!holder) return claimName(organization, name, entry);
  if (holder.workspaceId === entry.workspaceId) return entry.workspaceId;
  const workspace = await get<{ name: string; deletedAt?: string }>(keys.workspace(holder.workspaceId));
  if (!workspace) return holder.workspaceId;
  const renaming = Date.now() - Date.parse(holder.at) < renameSeconds * 1000;
  if (!workspace.deletedAt && (workspace.name === name || renaming)) return undefined;
  const taken = await put(
    { ...wanted },
    { condition: 'workspaceId = :holder', values: { ':holder': holder.workspaceId } },
  );
  return taken ? entry.workspaceId : undefined;
};

/** Brings the index up to date with the workspace of that name. */
export const indexName = async (organization: string, name: string, entry: NameEntry): Promise<void> => {
  await put(
    { ...item(organization, name, entry) },
    {
      condition: 'workspaceId = :id',
      values: { ':id': entry.workspaceId },
    },
  );
};

export const releaseName = async (organization: string, name: string, workspaceId: string): Promise<void> => {
  await remove(keys.workspaceName(organization, name), {
    condition: 'workspaceId = :id',
    values: { ':id': workspaceId },
  });
};
