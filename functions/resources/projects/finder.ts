import { byId } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { relatedIn } from '#api/validation.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { getProject } from './records.ts';

/** Place of a new resource: the organization, or the project named in the body. */
export interface NewInOrganization extends InOrganization {
  projectId?: string;
}

export const inProjectOf = (
  relationship: string,
  types: ['projects', ...'organizations'[]],
  otherwise?: (record: Organization) => string,
): Finder<NewInOrganization> => ({
  ...organization,
  find: async (request) => {
    const named = relatedIn(request, relationship, ...types);
    const home = await organization.find(request);
    const projectId = named?.type === 'projects' ? named.id : undefined;
    return home && { ...home, projectId: projectId ?? otherwise?.(home.record) };
  },
  scope: ({ organization: name, projectId, record }) =>
    projectId === undefined
      ? { organization: name }
      : { organization: name, project: projectId, isDefaultProject: projectId === record.defaultProjectId },
});

export const project = byId({
  what: 'project',
  parameter: 'project',
  get: getProject,
  visibleWith: 'project:read',
  scope: (project) => ({ organization: project.organization, project }),
});
