import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { withPoolUse } from '#resources/agents/pools/uses.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { executionIn } from '#resources/projects/execution-modes.ts';
import { eachProject, type Project, updateProject } from '#resources/projects/records.ts';
import type { Execution } from '#run/execution-mode.ts';
import { eachWorkspaceIn } from './lists.ts';
import type { Workspace } from './records.ts';

/**
 * Inheritance of execution modes and agent pools by projects and workspaces. Each has its own copy, so that reading
 * one takes no extra read; a change is copied to all that inherit it. Repeating an interrupted copy completes it.
 */

/** @throws {AgentPoolGoneError} */
const inheritExecution = (
  { id, agentPoolId: from }: Workspace,
  { executionMode, agentPoolId }: Execution,
): Promise<Workspace | undefined> =>
  withPoolUse(id, { from, to: agentPoolId }, () =>
    update<Workspace>(keys.workspace(id), {
      set: { executionMode, agentPoolId, updatedAt: now() },
      condition: 'inheritsExecutionMode = :true AND attribute_not_exists(deletedAt)',
      values: { ':true': true },
    }),
  );

/**
 * Copies a changed default of the project. 1 read per workspace, and 1 write per workspace that changes; more with
 * agents.
 */
export const inheritFromProject = async (project: Project): Promise<void> => {
  const execution = executionIn(project);
  for await (const workspaces of eachWorkspaceIn(project.id)) {
    const following = workspaces.filter(
      ({ inheritsExecutionMode, executionMode, agentPoolId = null }) =>
        inheritsExecutionMode && (executionMode !== execution.executionMode || agentPoolId !== execution.agentPoolId),
    );
    await inBatches(following, (workspace) => inheritExecution(workspace, execution));
  }
};

/** Copies a changed default of the organization. */
export const inheritFromOrganization = async (organization: Organization): Promise<void> => {
  const { executionMode: defaultExecutionMode, agentPoolId: defaultAgentPoolId } = executionIn(organization);
  for await (const projects of eachProject(organization.name)) {
    const following = projects.filter(({ inheritsExecutionMode = true }) => inheritsExecutionMode);
    await inBatches(following, (project) => updateProject(project, { defaultExecutionMode, defaultAgentPoolId }));
    for (const project of following) await inheritFromProject({ ...project, defaultExecutionMode, defaultAgentPoolId });
  }
};
