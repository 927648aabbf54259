import { inBatches } from '#platform/store/batches.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { executionIn } from '#resources/projects/execution-modes.ts';
import { eachProject, type Project, updateProject } from '#resources/projects/records.ts';
import { eachWorkspaceIn } from './lists.ts';
import { inheritExecution } from './records.ts';

/**
 * Execution modes, with agent pools, that projects and workspaces have from above. Each has its own copy, so that reading
 * one costs nothing more; a change above is carried to all that follow it, at once. One that was cut off is carried on by
 * repeating it.
 */

const atOnce = 20;

/** The project's default is another one. 1 read for each workspace, and 1 write where it changes; more with agents. */
export const inheritFromProject = async (project: Project): Promise<void> => {
  const execution = executionIn(project);
  for await (const workspaces of eachWorkspaceIn(project.id)) {
    const following = workspaces.filter(
      ({ inheritsExecutionMode, executionMode, agentPoolId = null }) =>
        inheritsExecutionMode && (executionMode !== execution.executionMode || agentPoolId !== execution.agentPoolId),
    );
    await inBatches(following, atOnce, (workspace) => inheritExecution(workspace, execution));
  }
};

/** The organization's default is another one. */
export const inheritFromOrganization = async (organization: Organization): Promise<void> => {
  const { executionMode: defaultExecutionMode, agentPoolId: defaultAgentPoolId } = executionIn(organization);
  for await (const projects of eachProject(organization.name)) {
    const following = projects.filter(({ inheritsExecutionMode = true }) => inheritsExecutionMode);
    await inBatches(following, atOnce, (project) =>
      updateProject(project, { defaultExecutionMode, defaultAgentPoolId }),
    );
    for (const project of following) await inheritFromProject({ ...project, defaultExecutionMode, defaultAgentPoolId });
  }
};
