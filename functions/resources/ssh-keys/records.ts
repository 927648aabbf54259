import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { recordsAt, updateRecord } from '#platform/store/records.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { create, put, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Workspace } from '#resources/workspaces/records.ts';

/**
 * SSH keys of organizations, with which runs fetch modules from private Git repositories (HCP API: SSH keys). A key
 * is stored encrypted, and only the runner that initializes a workspace with this key receives it.
 */
export interface SshKey extends Edited {
  id: string;
  organization: string;
  name: string;
  sealedValue: Uint8Array;
  createdAt: string;
  /** Set while the key is being deleted; readers treat it as deleted. */
  deletedAt?: string;
}

/** Maximum number of keys in an organization. */
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

const records = recordsAt<SshKey>(keys.sshKey);
export const getSshKey = records.read;

const pointersOf = (organization: string): Promise<Pointer[]> =>
  queryAll<Pointer>({ pk: keys.organization(organization).pk, prefix: 'SSHKEY#' });

export const countSshKeys = async (organization: string): Promise<number> => (await pointersOf(organization)).length;

/** Ordered by name. */
export const listSshKeys = async (organization: string): Promise<SshKey[]> => {
  const sshKeys = await records.readAll((await pointersOf(organization)).map(({ sshKeyId }) => sshKeyId));
  return sshKeys.sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** 2 writes, 1 KMS request. */
export const createSshKey = async (organization: string, name: string, value: string): Promise<SshKey> => {
  const id = newId('sshkey');
  const sealedValue = await seal(value, contextOf({ organization, id }));
  const key: SshKey = { id, organization, name, sealedValue, createdAt: now() };
  // The pointer first: a dangling pointer is harmless, but a key missing from every list could not be deleted.
  await put({ ...keys.sshKeyOf(organization, id), sshKeyId: id });
  await create({ ...keys.sshKey(id), ...key });
  return key;
};

/** Undefined when it was deleted, or changed since the editor read it. */
export const updateSshKey = async (
  key: SshKey,
  { name, value }: { name?: string; value?: string },
  editor: Editor,
): Promise<SshKey | undefined> => {
  const set = { name, sealedValue: value === undefined ? undefined : await seal(value, contextOf(key)) };
  return updateRecord<SshKey>(keys.sshKey(key.id), asEdit({ set }, editor));
};

/** The private key; undefined when it was deleted. 1 read, 1 KMS request. */
export const openSshKey = async (id: string, organization: string): Promise<string | undefined> => {
  const key = await getSshKey(id);
  return key?.organization === organization ? open(key.sealedValue, contextOf(key)) : undefined;
};

/** Removes a deleted key from the workspace. */
const forget = (workspaceId: string, id: string) =>
  update<Workspace>(keys.workspace(workspaceId), {
    remove: ['sshKeyId'],
    condition: 'sshKeyId = :id',
    values: { ':id': id },
  });

/** The pointer from the key to its workspaces is written before and removed after the workspace's own attribute. */
const leave = (id: string, workspaceId: string) => remove(keys.sshKeyUse(id, workspaceId));

/**
 * Assigns a key to the workspace; null removes it. Undefined when the workspace or the key is deleted. At most 3
 * writes and 1 read.
 */
export const assignSshKey = async (
  { id: workspaceId, sshKeyId: former }: Workspace,
  sshKeyId: string | null,
): Promise<Workspace | undefined> => {
  if (sshKeyId) await put({ ...keys.sshKeyUse(sshKeyId, workspaceId), workspaceId });
  const updated = await updateRecord<Workspace>(keys.workspace(workspaceId), {
    set: { sshKeyId: sshKeyId ?? undefined, updatedAt: now() },
    remove: sshKeyId ? [] : ['sshKeyId'],
  });
  if (updated && former && former !== sshKeyId) await leave(former, workspaceId);
  if (!sshKeyId || (updated && (await getSshKey(sshKeyId)))) return updated;
  // Deleted concurrently.
  await forget(workspaceId, sshKeyId);
  await leave(sshKeyId, workspaceId);
  return undefined;
};

/** For a restored workspace. False when the key was deleted meanwhile. 1 write, 1 read. */
export const resumeSshKey = async (workspaceId: string, sshKeyId: string): Promise<boolean> => {
  await put({ ...keys.sshKeyUse(sshKeyId, workspaceId), workspaceId });
  if (await getSshKey(sshKeyId)) return true;
  await leave(sshKeyId, workspaceId);
  return false;
};

/** For a deleted workspace. */
export const leaveSshKey = ({ id, sshKeyId }: Pick<Workspace, 'id' | 'sshKeyId'>) =>
  sshKeyId ? leave(sshKeyId, id) : undefined;

/** Removes the key from its workspaces too. Can be repeated. */
export const deleteSshKey = async ({ id, organization }: SshKey): Promise<void> => {
  const key = keys.sshKey(id);
  await updateExisting(key, { set: { deletedAt: now() } });
  for (const { workspaceId } of await queryAll<Use>({ pk: key.pk, prefix: 'USE#' })) {
    await forget(workspaceId, id);
    await leave(id, workspaceId);
  }
  await remove(keys.sshKeyOf(organization, id));
  await remove(key);
};
