import { one, type Resource } from '#api/answer.ts';
import type { Granted } from '#api/permissions/granted.ts';
import type { Grants } from '#api/permissions/grants.ts';
import { projectPermissions } from '#api/permissions/reported-permissions.ts';
import { byOrganization } from '#api/permissions/shown.ts';
import type { Project } from './records.ts';

export const projectDocument = (project: Project, granted: Granted) => ({
  id: project.id,
  type: 'projects',
  attributes: {
    name: project.name,
    description: project.description,
    'created-at': project.createdAt,
    'auto-destroy-activity-duration': project.autoDestroyActivityDuration ?? null,
    'default-execution-mode': project.defaultExecutionMode ?? 'remote',
    'setting-overwrites': {
      'default-execution-mode': project.inheritsExecutionMode === false,
      'default-agent-pool': project.inheritsExecutionMode === false,
    },
    permissions: projectPermissions(granted),
    'is-unified': false,
  },
  relationships: {
    organization: one('organizations', project.organization),
    'tag-bindings': { links: { related: `/api/v2/projects/${project.id}/tag-bindings` } },
    'default-agent-pool': one('agent-pools', project.defaultAgentPoolId),
  },
  links: { self: `/api/v2/projects/${project.id}` },
});

export const projectDocuments = (grants: Grants, projects: Project[]): Promise<Resource[]> =>
  byOrganization(projects, async (organization, group) => {
    const granted = await grants.onProjects(organization, group);
    const visible = group.filter(({ id }) => granted(id).has('project:read'));
    return visible.map((project) => projectDocument(project, granted(project.id)));
  });
