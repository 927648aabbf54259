import { unprocessable } from '../api/errors.ts';
import type { ExecutionMode } from '../run/execution-mode.ts';
import { type AgentPool, getAgentPool } from './records.ts';

interface Wanted {
  organization: string;
  mode: ExecutionMode;
  /** What was said of the pool; undefined: nothing. */
  given: string | null | undefined;
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
export const defaultAgentPool = async (wanted: Wanted): Promise<string | null> => {
  const { organization, mode, given, current, projectId, pointer } = wanted;
  if (mode !== 'agent') {
    if (given) throw unprocessable(pointer, 'default-agent-pool: goes with default-execution-mode "agent" only');
    return null;
  }
  const id = given === undefined ? current : given;
  if (!id) throw unprocessable(pointer, 'default-agent-pool: is missing; default-execution-mode "agent" needs one');
  if (id === current) return id;
  const pool = await getAgentPool(id);
  if (pool?.organization !== organization) {
    throw unprocessable(pointer, `default-agent-pool: there is no agent pool ${id} in ${organization}`);
  }
  if (isForAll(pool, projectId)) return id;
  throw unprocessable(
    pointer,
    `default-agent-pool: agent pool ${pool.name} is not for all workspaces there: whoever manages agent pools can allow it`,
  );
};
