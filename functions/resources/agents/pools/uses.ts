import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get, put, queryAll, remove } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';

/**
 * Which workspaces and OAuth clients use an agent pool, and of which projects and organization it is the default: they say
 * so, and an entry with the pool leads there. It is written before and removed after, so that one that was left behind says nothing.
 */

/** The pool that something is to use was deleted at the same moment. */
export class AgentPoolGoneError extends Error {
  override name = 'AgentPoolGoneError';
}

/**
 * Before something says that it uses the pool: whoever deletes the pool finds out by this. 1 write, 1 read.
 * @param userId of a workspace, a project or an OAuth client, or the name of the organization
 * @throws {AgentPoolGoneError}
 */
export const usePool = async (id: string, userId: string): Promise<void> => {
  await put({ ...keys.agentPoolUse(id, userId), userId, at: now() });
  const pool = await get<{ deletedAt?: string }>(keys.agentPool(id));
  if (pool && !pool.deletedAt) return;
  await leavePool(id, userId);
  throw new AgentPoolGoneError(`agent pool ${id} is gone`);
};

/** After it has ceased to. */
export const leavePool = (id: string, userId: string): Promise<boolean> => remove(keys.agentPoolUse(id, userId));

/** Both, around the write that says so. @throws {AgentPoolGoneError} */
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

/** Something says that it uses a pool well within so long after {@link usePool}. */
const settledMs = 60_000;

export const usesOf = (id: string): Promise<Use[]> =>
  queryAll<Use & Key>({ pk: keys.agentPool(id).pk, prefix: 'USE#' });

type User = { deletedAt?: string; id?: string; agentPoolId?: string; defaultAgentPoolId?: string };

/** Organizations may have names that begin like ids. */
const form = /^(ws|prj|oc)-[A-Za-z0-9]{16}$/;
const keyOfKind: Record<string, (id: string) => Key> = {
  ws: keys.workspace,
  prj: keys.project,
  oc: keys.oauthClient,
};

const keyOf = ({ userId }: Use): Key => (keyOfKind[form.exec(userId)?.[1] ?? ''] ?? keys.organization)(userId);

export const read = (uses: Use[]): Promise<(User & Key)[]> => batchGet<User & Key>(uses.map(keyOf));

/** Whether anything uses it, or is about to. */
export const isPoolUsed = async (id: string): Promise<boolean> => {
  const uses = await usesOf(id);
  const fresh = new Date(Date.now() - settledMs).toISOString();
  const users = await read(uses);
  const using = users.some(({ agentPoolId, defaultAgentPoolId }) => agentPoolId === id || defaultAgentPoolId === id);
  return using || uses.some(({ at }) => at > fresh);
};
