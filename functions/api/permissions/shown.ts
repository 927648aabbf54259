import { projectDocument } from '../../organizations/document.ts';
import type { Project } from '../../projects/records.ts';
import { workspaceDocument } from '../../workspaces/document.ts';
import type { Workspace } from '../../workspaces/records.ts';
import type { Resource } from '../answer.ts';
import type { Grants } from './grants.ts';

/** Documents of those of some records that the caller may see, each with what the caller may do with it. */

const byOrganization = async <R extends { organization: string }>(
  records: R[],
  shown: (organization: string, some: R[]) => Promise<Resource[]>,
): Promise<Resource[]> => {
  const groups = Map.groupBy(records, ({ organization }) => organization);
  return (await Promise.all([...groups].map(([organization, some]) => shown(organization, some)))).flat();
};

export const workspaceDocuments = (grants: Grants, workspaces: Workspace[]): Promise<Resource[]> =>
  byOrganization(workspaces, async (organization, some) => {
    const granted = await grants.onWorkspaces(organization, some);
    const seen = some.filter(({ id }) => granted(id).has('workspace:read'));
    return seen.map((one) => workspaceDocument(one, granted(one.id)));
  });

export const projectDocuments = (grants: Grants, projects: Project[]): Promise<Resource[]> =>
  byOrganization(projects, async (organization, some) => {
    const granted = await grants.onProjects(organization, some);
    const seen = some.filter(({ id }) => granted(id).has('project:read'));
    return seen.map((one) => projectDocument(one, granted(one.id)));
  });
