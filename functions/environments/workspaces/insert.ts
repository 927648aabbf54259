import { deleteWorkspace } from '#removal/workspaces.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { build, type NewBuild } from '../builds/create.ts';
import { newUuid } from '../host/uuid.ts';
import { createManagedWorkspace } from '../runs.ts';
import { getTemplate, type Template } from '../templates/records.ts';
import { claimName, createEnvironment, type Environment, forgetEnvironment, getEnvironment } from './records.ts';

/** Creates environments with their workspace and their first build, or not at all. */

export interface NewEnvironment {
  template: Template;
  name: string;
  owner: { id: string; username: string };
  settings?: Partial<Environment>;
  /** The user who creates the environment. */
  by: string;
}

/** @returns the environment, unless the owner has another one with this name or the template has been deleted */
export const insertEnvironment = async (
  { template, name, owner, settings, by }: NewEnvironment,
  enter: (environment: Environment) => Promise<void> = async () => {},
): Promise<Environment | 'name taken' | 'no template'> => {
  const id = newUuid();
  if (!(await claimName(owner.id, name, id))) return 'name taken';
  const home = { organization: template.organization, projectId: template.projectId };
  const base = `${owner.username}-${name}`.replaceAll(/[^\w-]/g, '-').slice(0, 70);
  const label = `environment ${owner.username}/${name}`;
  const workspace = await createManagedWorkspace(home, `${base}-${id.slice(0, 8)}`, label);
  const at = new Date().toISOString();
  const environment: Environment = {
    ...home,
    automaticUpdates: 'never',
    ...settings,
    id,
    name,
    ownerId: owner.id,
    ownerName: owner.username,
    templateId: template.id,
    workspaceId: workspace.id,
    createdAt: at,
    updatedAt: at,
    lastUsedAt: at,
    buildNumber: 0,
    latestBuildId: '',
  };
  await enter(environment);
  await createEnvironment(environment);
  // A deletion marks the template before it checks for environments: either this read or that check finds the other.
  if (await getTemplate(template.id)) return environment;
  await forgetEnvironment(environment);
  await deleteWorkspace(workspace, { by, force: true });
  return 'no template';
};

/** If the first build fails to start, the environment is removed. */
export const firstBuild = async (environment: Environment, by: string, first: NewBuild): Promise<void> => {
  try {
    await build(environment, first);
  } catch (error) {
    const latestBuildId = (await getEnvironment(environment.id))?.latestBuildId;
    if (latestBuildId) throw error;
    const workspace = await getWorkspace(environment.workspaceId);
    if (workspace) await deleteWorkspace(workspace, { by, force: true });
    await forgetEnvironment(environment);
    throw error;
  }
};
