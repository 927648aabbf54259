import { one } from '#api/answer.ts';
import { customProject, customWorkspace, projectParts, workspaceParts } from '#api/permissions/permissions.ts';
import type { ProjectGrant, ProjectParts, WorkspaceGrant, WorkspaceParts } from '#api/permissions/team-access.ts';

/** The value of each permission part at the grant's access level. */
export const partsOfWorkspace = ({ access, parts = customWorkspace }: Partial<WorkspaceGrant>): WorkspaceParts =>
  access === undefined || access === 'custom' ? parts : workspaceParts[access];

export const partsOfProject = ({ access, parts = customProject }: Partial<ProjectGrant>): ProjectParts =>
  access === undefined || access === 'custom' ? parts : projectParts[access];

/** HCP API: team access. */
export const teamWorkspaceDocument = (workspaceId: string, teamId: string, grant: WorkspaceGrant) => ({
  id: grant.id,
  type: 'team-workspaces',
  attributes: { access: grant.access, ...partsOfWorkspace(grant), 'policy-overrides': grant.overrides ?? false },
  relationships: { team: one('teams', teamId), workspace: one('workspaces', workspaceId) },
  links: { self: `/api/v2/team-workspaces/${grant.id}` },
});

/** HCP API: project team access. */
export const teamProjectDocument = (projectId: string, teamId: string, grant: ProjectGrant) => {
  const { workspaces, create, move, delete: deletes, ...project } = partsOfProject(grant);
  const { 'workspace-locking': locking, ...rest } = workspaces;
  return {
    id: grant.id,
    type: 'team-projects',
    attributes: {
      access: grant.access,
      'project-access': project,
      'workspace-access': {
        create,
        move,
        delete: deletes,
        locking,
        ...rest,
        'policy-overrides': grant.overrides ?? false,
      },
    },
    relationships: { team: one('teams', teamId), project: one('projects', projectId) },
    links: { self: `/api/v2/team-projects/${grant.id}` },
  };
};
