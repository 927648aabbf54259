import { unprocessable } from '#api/errors.ts';
import type { ExecutionMode } from '#run/execution-mode.ts';
import { type AgentPool, getAgentPool } from './records.ts';

interface PoolChoice {
  organization: string;
  mode: ExecutionMode;
  /** What was said of the pool; undefined: nothing. */
  requested: string | null | undefined;
  /** The pool so far. */
  current: string | null | undefined;
  /** Of a project that is there already. */
  projectId?: string;
  /** Where the pool stands in the request. */
  pointer: string;
}

/** Workspaces follow without being asked one by one. */
const isForAll = (pool: AgentPool, projectId: string | undefined): boolean =>
  pool.excludedWorkspaceIds.length === 0 &&
  (pool.organizationScoped || (projectId !== undefined && pool.allowedProjectIds.includes(projectId)));

/**
 * The default agent pool of a project or an organization: there is one with execution mode `agent`, and with no other.
 * @throws {ApiError} 422
 */
export const defaultAgentPool = async (settings: PoolChoice): Promise<string | null> => {
  const { organization, mode, requested, current, projectId, pointer } = settings;
  // Clients look for these words.
  if (mode !== 'agent') {
    if (requested)
      throw unprocessable(pointer, "default-agent-pool: must not be specified unless using 'agent' execution mode");
    return null;
  }
  const id = requested === undefined ? current : requested;
  if (!id) throw unprocessable(pointer, "default-agent-pool: must be specified when using 'agent' execution mode");
  if (id === current) return id;
  const pool = await getAgentPool(id);
  if (pool?.organization !== organization) {
    throw unprocessable(pointer, `default-agent-pool: agent pool ${id} not found in ${organization}`);
  }
  if (isForAll(pool, projectId)) return id;
  throw unprocessable(
    pointer,
    `default-agent-pool: agent pool ${pool.name} is not available to all workspaces; allow it in the agent pool first`,
  );
};
