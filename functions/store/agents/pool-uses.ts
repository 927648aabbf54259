import { type Key, keys } from '../keys.ts';
import { batchGet, get, put, queryAll, remove } from '../table.ts';
import { now } from '../time.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import type { AgentPool } from './agent-pools.ts';

/**
 * Which workspaces use an agent pool: the workspace says so, and an entry with the pool leads there. It is written before
 * and removed after, so that one that was left behind says nothing.
 */

/** The pool that a workspace is to use was deleted at the same moment. */
export class AgentPoolGoneError extends Error {
  override name = 'AgentPoolGoneError';
}

/**
 * Before a workspace says that it uses the pool: whoever deletes the pool finds out by this. 1 write, 1 read.
 * @throws {AgentPoolGoneError}
 */
export const usePool = async (id: string, workspaceId: string): Promise<void> => {
  await put({ ...keys.agentPoolWorkspace(id, workspaceId), workspaceId, at: now() });
  const pool = await get<AgentPool>(keys.agentPool(id));
  if (pool && !pool.deletedAt) return;
  await leavePool(id, workspaceId);
  throw new AgentPoolGoneError(`agent pool ${id} is gone`);
};

/** After a workspace has ceased to use it. */
export const leavePool = (id: string, workspaceId: string): Promise<boolean> =>
  remove(keys.agentPoolWorkspace(id, workspaceId));

interface Use {
  workspaceId: string;
  at: string;
}

/** A workspace says that it uses a pool well within so long after {@link usePool}. */
const settledMs = 60_000;

const usesOf = (id: string): Promise<Use[]> => queryAll<Use & Key>({ pk: keys.agentPool(id).pk, prefix: 'WS#' });

const read = async (uses: Use[]): Promise<Workspace[]> => {
  const found: Workspace[] = [];
  for (let i = 0; i < uses.length; i += 100) {
    const some = uses.slice(i, i + 100).map(({ workspaceId }) => keys.workspace(workspaceId));
    found.push(...(await batchGet<Workspace & Key>(some)));
  }
  return found;
};

/** Those whose runs its agents do. */
export const workspacesOfPool = async (id: string): Promise<Workspace[]> =>
  (await read(await usesOf(id))).filter(({ agentPoolId, deletedAt }) => agentPoolId === id && !deletedAt);

/** How many workspaces use it, or are about to. */
export const usedBy = async (id: string): Promise<number> => {
  const uses = await usesOf(id);
  const using = new Set((await read(uses)).filter(({ agentPoolId }) => agentPoolId === id).map((one) => one.id));
  const fresh = new Date(Date.now() - settledMs).toISOString();
  return uses.filter(({ workspaceId, at }) => using.has(workspaceId) || at > fresh).length;
};
