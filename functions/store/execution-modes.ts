import type { Organization } from './organizations.ts';
import { listProjects, type Project, updateProject } from './projects.ts';
import { listNames } from './workspace-names.ts';
import { getWorkspaces, inheritExecutionMode } from './workspaces.ts';

/**
 * Execution modes that projects and workspaces have from above. Each has its own copy, so that reading one costs nothing
 * more; a change above is carried to all that follow it, at once. One that was cut off is carried on by repeating it.
 */

type Mode = 'remote' | 'local';

const atOnce = 20;

const inParts = async <T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < items.length; i += atOnce) await Promise.all(items.slice(i, i + atOnce).map(work));
};

/** To the workspaces of the projects that follow. 1 read for each, and 1 write where it changes. */
const carryToWorkspaces = async (organization: string, projectIds: Set<string>, mode: Mode): Promise<void> => {
  const names = (await listNames(organization)).filter(({ projectId }) => projectIds.has(projectId));
  const workspaces = await getWorkspaces(names.map(({ workspaceId }) => workspaceId));
  const following = workspaces.filter(
    ({ inheritsExecutionMode, executionMode }) => inheritsExecutionMode && executionMode !== mode,
  );
  await inParts(following, ({ id }) => inheritExecutionMode(id, mode));
};

/** The organization's default is another one. */
export const carryFromOrganization = async (organization: Organization): Promise<void> => {
  const mode = organization.defaultExecutionMode;
  const projects = (await listProjects(organization.name)).filter(
    ({ inheritsExecutionMode = true }) => inheritsExecutionMode,
  );
  await inParts(projects, (project) => updateProject(project, { defaultExecutionMode: mode }));
  await carryToWorkspaces(organization.name, new Set(projects.map(({ id }) => id)), mode);
};

/** The project's default is another one. */
export const carryFromProject = ({ id, organization, defaultExecutionMode = 'remote' }: Project): Promise<void> =>
  carryToWorkspaces(organization, new Set([id]), defaultExecutionMode);
