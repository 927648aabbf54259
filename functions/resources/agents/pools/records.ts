import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { listNamed, listNames, recordsAt, updateRecord } from '#platform/store/records.ts';
import { queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createNamedRecord, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import { deleteTokensOf } from '#resources/users/tokens.ts';
import { isPoolUsed } from './uses.ts';

/** Agent pools of organizations, and the workspaces whose runs their agents may carry out (HCP API: agent pools). */

export interface AgentPoolSettings {
  name: string;
  /** Every workspace of the organization may use the pool, except the excluded ones. */
  organizationScoped: boolean;
  /** Workspaces that may use a pool that is not organization-scoped. */
  allowedWorkspaceIds: string[];
  allowedProjectIds: string[];
  excludedWorkspaceIds: string[];
}

export interface AgentPool extends AgentPoolSettings, Edited {
  id: string;
  organization: string;
  createdAt: string;
  /** Set while the pool is being deleted; readers treat it as deleted. */
  deletedAt?: string;
}

export const maxPools = 200;

export const { read: getAgentPool, readAll: getAgentPools } = recordsAt<AgentPool>(keys.agentPool);

const namesOf = (organization: string) => listNames(organization, 'APOOLNAME#');

/** Ordered by name. */
export const listAgentPools = async (organization: string): Promise<AgentPool[]> =>
  listNamed(await namesOf(organization), getAgentPools, ({ name }) => name);

/** Includes pools that are being deleted. */
export const listAgentPoolIds = async (organization: string): Promise<string[]> =>
  (await namesOf(organization)).map(({ id }) => id);

const names: UniqueNames<AgentPool> = {
  key: ({ organization, name }) => keys.agentPoolName(organization, name),
  find: getAgentPool,
};

/** Undefined when the organization already has a pool with this name. */
export const createAgentPool = async (
  organization: string,
  settings: AgentPoolSettings,
): Promise<AgentPool | undefined> => {
  const pool: AgentPool = { ...settings, id: newId('apool'), organization, createdAt: now() };
  return createNamedRecord(names, pool, keys.agentPool(pool.id));
};

/** Undefined when the name is taken, or the pool is deleted. */
export const updateAgentPool = async (
  pool: AgentPool,
  change: Partial<AgentPoolSettings>,
  editor: Editor,
): Promise<AgentPool | undefined> => {
  const updated = await rename(names, pool, { ...pool, ...change }, () =>
    updateRecord<AgentPool>(keys.agentPool(pool.id), asEdit({ set: change }, editor)),
  );
  return updated === 'name taken' ? undefined : updated;
};

/** Whether the pool's agents may carry out runs of the workspace. */
export const allows = (pool: AgentPool, { id, projectId }: { id?: string; projectId: string }): boolean => {
  if (id !== undefined && pool.excludedWorkspaceIds.includes(id)) return false;
  if (pool.organizationScoped || pool.allowedProjectIds.includes(projectId)) return true;
  return id !== undefined && pool.allowedWorkspaceIds.includes(id);
};

/**
 * Deletes an unused pool with its tokens. Marks it first, so that no new use begins during the check. Can be
 * repeated. False when the pool is in use.
 */
export const deleteAgentPool = async (pool: AgentPool): Promise<boolean> => {
  const key = keys.agentPool(pool.id);
  await updateExisting(key, { set: { deletedAt: now(), ...dueIn(pool.id, 60) } });
  if (await isPoolUsed(pool.id)) {
    await updateExisting(key, { remove: ['deletedAt', ...dueAttributes] });
    return false;
  }
  await deleteTokensOf(pool.id);
  const rest = await queryAll<Key>({ pk: key.pk });
  await Promise.all(rest.filter(({ sk }) => sk !== key.sk).map(({ pk, sk }) => remove({ pk, sk })));
  await releaseName(names, pool);
  await remove(key);
  return true;
};
