import { byId, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { findWorkspace, getWorkspace, type Workspace } from './records.ts';

export const workspace = byId({
  what: 'workspace',
  parameter: 'workspace',
  get: getWorkspace,
  visibleWith: 'workspace:read',
  scope: (workspace) => ({ organization: workspace.organization, workspace }),
});

export const workspaceByName: Finder<Workspace> = {
  ...workspace,
  parameter: 'name',
  find: (request) => findWorkspace(param(request, 'organization'), param(request, 'name')),
};

/** Also finds the workspace for runs with which it shares its state. */
const withSharedState = (finder: Finder<Workspace>): Finder<Workspace> => ({
  ...finder,
  shared: async (record) => ({ organization: record.organization, workspace: record }),
});

export const sharedWorkspace = withSharedState(workspace);

export const sharedWorkspaceByName = withSharedState(workspaceByName);
