import { type Key, keys } from '#platform/store/keys.ts';
import type { Names } from '#platform/store/name-index.ts';
import { create, get, put, remove } from '#platform/store/table.ts';
import type { Tag } from '#resources/projects/tags.ts';

/**
 * Names of an organization's workspaces: they ensure uniqueness and are the index for lists. A name is written before
 * its workspace and removed after it, so an interrupted caller leaves a name without a matching workspace, which the
 * next caller takes over. A second entry in the project's partition serves its lists. It is written before the
 * workspace moves there and removed after it leaves, so a leftover entry has no effect.
 */
export interface NameEntry {
  workspaceId: string;
  projectId: string;
  tags: Tag[];
  /** Its workspace belongs to an environment or a template. */
  managed?: true;
  /** Its workspace is deleted and will be restored within a minute, so the name cannot be taken over. */
  recovering?: true;
}

export type NameItem = NameEntry & Key & { name: string; at: string };

/** A rename takes much less than this; see {@link claimName}. */
const renameSeconds = 60;

const item = (key: Key, name: string, entry: NameEntry): NameItem => ({
  ...key,
  ...entry,
  name,
  at: new Date().toISOString(),
});

export const nameEntry = (organization: string, name: string): Promise<NameEntry | undefined> =>
  get<NameItem>(keys.workspaceName(organization, name));

const prefix = 'WSNAME#';

export const namesOf = (organization: string): Names => ({ pk: keys.organization(organization).pk, prefix });

/** Entries of workspaces that are or were in the project; their records are authoritative. */
export const namesOfProject = (projectId: string): Names => ({ pk: keys.project(projectId).pk, prefix });

/**
 * Claims the name for the workspace. Returns the id to create it with: the given one, or the id of an interrupted
 * creation with this name, which several callers may continue (the first to write the item succeeds). Undefined when
 * the name is taken.
 */
export const claimName = async (organization: string, name: string, entry: NameEntry): Promise<string | undefined> => {
  const key = keys.workspaceName(organization, name);
  const entryItem = item(key, name, entry);
  if (await create({ ...entryItem })) return entry.workspaceId;
  const holder = await get<NameItem>(key);
  if (!holder) return claimName(organization, name, entry);
  if (holder.workspaceId === entry.workspaceId) return entry.workspaceId;
  const workspace = await get<{ name: string; deletedAt?: string }>(keys.workspace(holder.workspaceId));
  if (!workspace) return holder.workspaceId;
  const renaming = Date.now() - Date.parse(holder.at) < renameSeconds * 1000;
  if (workspace.deletedAt ? holder.recovering && renaming : workspace.name === name || renaming) return undefined;
  const isTaken = await put(
    { ...entryItem },
    { condition: 'workspaceId = :holder', values: { ':holder': holder.workspaceId } },
  );
  return isTaken ? entry.workspaceId : undefined;
};

const ofWorkspace = ({ workspaceId }: Pick<NameEntry, 'workspaceId'>) => ({
  condition: 'workspaceId = :id',
  values: { ':id': workspaceId },
});

/** Updates the index entry of the workspace with this name. */
export const indexName = async (organization: string, name: string, entry: NameEntry): Promise<void> => {
  await put({ ...item(keys.workspaceName(organization, name), name, entry) }, ofWorkspace(entry));
};

/** {@link claimName} for a deleted workspace that will be restored within a minute. False when the name is taken. */
export const holdName = async (organization: string, name: string, entry: NameEntry): Promise<boolean> => {
  const holder = await claimName(organization, name, entry);
  if (holder === undefined) return false;
  const held = item(keys.workspaceName(organization, name), name, { ...entry, recovering: true });
  if (holder === entry.workspaceId) return put({ ...held }, ofWorkspace(entry));
  // A creation that claimed the name more than a minute ago has been interrupted.
  const stopped = new Date(Date.now() - renameSeconds * 1000).toISOString();
  return put({ ...held }, { condition: 'workspaceId = :id AND at < :at', values: { ':id': holder, ':at': stopped } });
};

/** Adds the workspace to the project's lists. */
export const indexInProject = async (name: string, entry: NameEntry): Promise<void> => {
  await put({ ...item(keys.projectWorkspace(entry.projectId, name), name, entry) });
};

export const releaseName = async (organization: string, name: string, workspaceId: string): Promise<void> => {
  await remove(keys.workspaceName(organization, name), ofWorkspace({ workspaceId }));
};

export const leaveProject = async (projectId: string, name: string, workspaceId: string): Promise<void> => {
  await remove(keys.projectWorkspace(projectId, name), ofWorkspace({ workspaceId }));
};
