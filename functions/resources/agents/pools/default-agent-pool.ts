import { unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import type { ExecutionMode } from '#run/execution-mode.ts';
import { type AgentPool, getAgentPool } from './records.ts';

interface PoolChoice {
  organization: string;
  mode: ExecutionMode;
  /** Pool in the request: undefined when the request does not mention it. */
  requested: string | null | undefined;
  /** Pool before the request. */
  current: string | null | undefined;
  /** Id of an existing project. */
  projectId?: string;
  /** JSON pointer to the pool in the request. */
  pointer: string;
}

/** Whether every workspace may use the pool: workspaces inherit it without individual checks. */
const isForAll = (pool: AgentPool, projectId: string | undefined): boolean =>
  pool.excludedWorkspaceIds.length === 0 &&
  (pool.organizationScoped || (projectId !== undefined && pool.allowedProjectIds.includes(projectId)));

/**
 * The default agent pool of a project or organization: required with execution mode `agent`, forbidden with any
 * other.
 * @throws {ApiError} 422
 */
export const defaultAgentPool = async (settings: PoolChoice): Promise<string | null> => {
  const { organization, mode, requested, current, projectId, pointer } = settings;
  // Clients match these words.
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
    throw unprocessable(pointer, `default-agent-pool: agent pool ${id} not found in ${nameOf(organization)}`);
  }
  if (isForAll(pool, projectId)) return id;
  throw unprocessable(
    pointer,
    `default-agent-pool: agent pool ${pool.name} is not available to all workspaces; allow it in the agent pool first`,
  );
};
