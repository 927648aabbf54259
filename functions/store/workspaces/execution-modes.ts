import type { Organization } from '../access/organizations.ts';
import { eachProject, type Project, updateProject } from './projects.ts';
import { eachWorkspaceIn } from './workspace-lists.ts';
import { inheritExecutionMode } from './workspaces.ts';

/**
 * Execution modes that projects and workspaces have from above. Each has its own copy, so that reading one costs nothing
 * more; a change above is carried to all that follow it, at once. One that was cut off is carried on by repeating it.
 */

type Mode = 'remote' | 'local';

const atOnce = 20;

const inParts = async <T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < items.length; i += atOnce) await Promise.all(items.slice(i, i + atOnce).map(work));
};

/** To the workspaces of the project that follow. 1 read for each, and 1 write where it changes. */
const carryToWorkspaces = async (projectId: string, mode: Mode): Promise<void> => {
  for await (const workspaces of eachWorkspaceIn(projectId)) {
    const following = workspaces.filter(
      ({ inheritsExecutionMode, executionMode }) => inheritsExecutionMode && executionMode !== mode,
    );
    await inParts(following, ({ id }) => inheritExecutionMode(id, mode));
  }
};

/** The organization's default is another one. */
export const carryFromOrganization = async (organization: Organization): Promise<void> => {
  const mode = organization.defaultExecutionMode;
  for await (const projects of eachProject(organization.name)) {
    const following = projects.filter(({ inheritsExecutionMode = true }) => inheritsExecutionMode);
    await inParts(following, (project) => updateProject(project, { defaultExecutionMode: mode }));
    for (const { id } of following) await carryToWorkspaces(id, mode);
  }
};

/** The project's default is another one. */
export const carryFromProject = ({ id, defaultExecutionMode = 'remote' }: Project): Promise<void> =>
  carryToWorkspaces(id, defaultExecutionMode);
