import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { batchGet, create, get, put, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Workspace } from '#resources/workspaces/records.ts';

/**
 * SSH keys of organizations, with which runs fetch modules from private Git repositories (HCP API: SSH keys). The text of
 * a key is sealed and told to nobody but the runner that initializes a workspace which has it.
 */
export interface SshKey extends Edited {
  id: string;
  organization: string;
  name: string;
  sealedValue: Uint8Array;
  createdAt: string;
  /** It is being deleted: for everybody else it is gone. */
  deletedAt?: string;
}

/** Most an organization may have. */
export const maxSshKeys = 200;

interface Pointer extends Key {
  sshKeyId: string;
}

interface Use extends Key {
  workspaceId: string;
}

const contextOf = ({ organization, id }: Pick<SshKey, 'organization' | 'id'>): SecretContext => ({
  organization,
  sshKey: id,
});

const living = (key: SshKey | undefined): SshKey | undefined => (key?.deletedAt ? undefined : key);

export const getSshKey = async (id: string): Promise<SshKey | undefined> => living(await get<SshKey>(keys.sshKey(id)));

const pointersOf = (organization: string): Promise<Pointer[]> =>
  queryAll<Pointer>({ pk: keys.organization(organization).pk, prefix: 'SSHKEY#' });

export const countSshKeys = async (organization: string): Promise<number> => (await pointersOf(organization)).length;

/** By name. */
export const listSshKeys = async (organization: string): Promise<SshKey[]> => {
  const pointers = await pointersOf(organization);
  const sshKeys = await batchGet<SshKey & Key>(pointers.map(({ sshKeyId }) => keys.sshKey(sshKeyId)));
  return sshKeys.filter((sshKey) => living(sshKey)).sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** 2 writes, 1 KMS request. */
export const createSshKey = async (organization: string, name: string, value: string): Promise<SshKey> => {
  const id = newId('sshkey');
  const sealedValue = await seal(value, contextOf({ organization, id }));
  const key: SshKey = { id, organization, name, sealedValue, createdAt: now() };
  // The pointer first: one that leads nowhere is harmless, a key that no list shows is not.
  await put({ ...keys.sshKeyOf(organization, id), sshKeyId: id });
  await create({ ...keys.sshKey(id), ...key });
  return key;
};

/** Undefined when it is gone, or is not as the editor has seen it. */
export const updateSshKey = async (
  key: SshKey,
  { name, value }: { name?: string; value?: string },
  editor: Editor,
): Promise<SshKey | undefined> => {
  const set = {
    ...(name === undefined ? {} : { name }),
    ...(value === undefined ? {} : { sealedValue: await seal(value, contextOf(key)) }),
  };
  const edit = { set, condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)' };
  return update<SshKey>(keys.sshKey(key.id), asEdit(edit, editor));
};

/** The text of the key; undefined when it was deleted. 1 read, 1 KMS request. */
export const openSshKey = async (id: string, organization: string): Promise<string | undefined> => {
  const key = await getSshKey(id);
  return key?.organization === organization ? open(key.sealedValue, contextOf(key)) : undefined;
};

/** A key that is no longer there is none. */
const forget = (workspaceId: string, id: string) =>
  update<Workspace>(keys.workspace(workspaceId), {
    remove: ['sshKeyId'],
    condition: 'sshKeyId = :id',
    values: { ':id': id },
  });

/** What leads from the key to the workspaces that have it is written before and removed after. */
const leave = (id: string, workspaceId: string) => remove(keys.sshKeyUse(id, workspaceId));

/**
 * Gives the workspace a key, or with null none. Undefined when the workspace, or the key, is gone. At most 3 writes and
 * 1 read.
 */
export const assignSshKey = async (
  { id: workspaceId, sshKeyId: former }: Workspace,
  sshKeyId: string | null,
): Promise<Workspace | undefined> => {
  if (sshKeyId) await put({ ...keys.sshKeyUse(sshKeyId, workspaceId), workspaceId });
  const condition = 'attribute_exists(pk) AND attribute_not_exists(deletedAt)';
  const updatedAt = now();
  const updated = await update<Workspace>(
    keys.workspace(workspaceId),
    sshKeyId ? { set: { sshKeyId, updatedAt }, condition } : { set: { updatedAt }, remove: ['sshKeyId'], condition },
  );
  if (updated && former && former !== sshKeyId) await leave(former, workspaceId);
  if (!sshKeyId || (updated && (await getSshKey(sshKeyId)))) return updated;
  // Deleted concurrently.
  await forget(workspaceId, sshKeyId);
  await leave(sshKeyId, workspaceId);
  return undefined;
};

/** For a workspace that comes back. False when the key is gone by now. 1 write, 1 read. */
export const resumeSshKey = async (workspaceId: string, sshKeyId: string): Promise<boolean> => {
  await put({ ...keys.sshKeyUse(sshKeyId, workspaceId), workspaceId });
  if (await getSshKey(sshKeyId)) return true;
  await leave(sshKeyId, workspaceId);
  return false;
};

/** For a workspace that ends. */
export const leaveSshKey = ({ id, sshKeyId }: Pick<Workspace, 'id' | 'sshKeyId'>) =>
  sshKeyId ? leave(sshKeyId, id) : undefined;

/** Workspaces that have it have none afterwards. May be repeated. */
export const deleteSshKey = async ({ id, organization }: SshKey): Promise<void> => {
  const key = keys.sshKey(id);
  await update(key, { set: { deletedAt: now() }, condition: 'attribute_exists(pk)' });
  for (const { workspaceId } of await queryAll<Use>({ pk: key.pk, prefix: 'USE#' })) {
    await forget(workspaceId, id);
    await leave(id, workspaceId);
  }
  await remove(keys.sshKeyOf(organization, id));
  await remove(key);
};
