import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get, put, queryAll, remove } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';

/**
 * Workspaces and OAuth clients that use an agent pool, and projects and organizations whose default it is. Their own
 * records are authoritative; an entry with the pool points to each. It is written before and removed after the use,
 * so a leftover entry has no effect.
 */

/** The chosen pool was deleted concurrently. */
export class AgentPoolGoneError extends Error {
  override name = 'AgentPoolGoneError';
}

/**
 * Call before a record names the pool, so that a concurrent deletion finds the use. 1 write, 1 read.
 * @param userId id of a workspace, project or OAuth client, or the name of the organization
 * @throws {AgentPoolGoneError}
 */
export const usePool = async (id: string, userId: string): Promise<void> => {
  await put({ ...keys.agentPoolUse(id, userId), userId, at: now() });
  const pool = await get<{ deletedAt?: string }>(keys.agentPool(id));
  if (pool && !pool.deletedAt) return;
  await leavePool(id, userId);
  throw new AgentPoolGoneError(`agent pool ${id} is gone`);
};

/** Call after the record no longer names the pool. */
export const leavePool = (id: string, userId: string): Promise<boolean> => remove(keys.agentPoolUse(id, userId));

/** Calls {@link usePool} before and {@link leavePool} after the write. @throws {AgentPoolGoneError} */
export const withPoolUse = async <T>(
  userId: string,
  { from, to }: { from: string | null | undefined; to: string | null | undefined },
  write: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  if (to && to !== from) await usePool(to, userId);
  const written = await write();
  if (written && from && from !== to) await leavePool(from, userId);
  return written;
};

interface Use {
  userId: string;
  at: string;
}

/** A record names the pool well within this time after {@link usePool}. */
const settledMs = 60_000;

export const usesOf = (id: string): Promise<Use[]> =>
  queryAll<Use & Key>({ pk: keys.agentPool(id).pk, prefix: 'USE#' });

type User = { deletedAt?: string; id?: string; agentPoolId?: string; defaultAgentPoolId?: string };

/** Organization names may start like ids. */
const form = /^(ws|prj|oc)-[A-Za-z0-9]{16}$/;
const keyOfKind: Record<string, (id: string) => Key> = {
  ws: keys.workspace,
  prj: keys.project,
  oc: keys.oauthClient,
};

const keyOf = ({ userId }: Use): Key => (keyOfKind[form.exec(userId)?.[1] ?? ''] ?? keys.organization)(userId);

export const read = (uses: Use[]): Promise<(User & Key)[]> => batchGet<User & Key>(uses.map(keyOf));

/** Whether a record uses the pool, or registered a use that may still be written. */
export const isPoolUsed = async (id: string): Promise<boolean> => {
  const uses = await usesOf(id);
  const fresh = new Date(Date.now() - settledMs).toISOString();
  const users = await read(uses);
  const using = users.some(({ agentPoolId, defaultAgentPoolId }) => agentPoolId === id || defaultAgentPoolId === id);
  return using || uses.some(({ at }) => at > fresh);
};
