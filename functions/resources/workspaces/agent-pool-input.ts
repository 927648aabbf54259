import { unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { pointer } from '#resources/agents/pools/input.ts';
import { allows, getAgentPool } from '#resources/agents/pools/records.ts';
import type { Workspace, WorkspaceChange } from './records.ts';

/** Input of a workspace's agent pool: required with execution mode `agent`, forbidden with any other. */

/**
 * Completes a change with the agent pool that follows from it. 1 read when the pool changes.
 * @param current for a new workspace, only its organization
 * @throws {ApiError} 422
 */
export const settleAgentPool = async (
  change: WorkspaceChange,
  current: Pick<Workspace, 'organization'> & Partial<Workspace>,
): Promise<void> => {
  const mode = change.executionMode ?? current.executionMode;
  if (mode !== 'agent') {
    if (change.agentPoolId) {
      throw unprocessable(pointer, 'agent-pool-id: requires execution-mode "agent"; set both');
    }
    if (current.agentPoolId) change.agentPoolId = null;
    return;
  }
  const id = change.agentPoolId === undefined ? current.agentPoolId : change.agentPoolId;
  if (!id) {
    throw unprocessable(pointer, 'agent-pool-id: is required for execution-mode "agent"');
  }
  const projectId = change.projectId ?? current.projectId ?? '';
  const moved = change.projectId !== undefined && change.projectId !== current.projectId;
  if (id === current.agentPoolId && !moved) return;
  const pool = await getAgentPool(id);
  if (pool?.organization !== current.organization) {
    throw unprocessable(pointer, `agent-pool-id: agent pool ${id} not found in ${nameOf(current.organization)}`);
  }
  if (allows(pool, { id: current.id, projectId })) return;
  throw unprocessable(
    pointer,
    `agent-pool-id: agent pool ${pool.name} is not available to this workspace; allow the workspace or its project in the agent pool first`,
  );
};
