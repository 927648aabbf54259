import { many, one } from '#api/answer.ts';
import type { ProviderSet } from './records.ts';

/** HCP API: provider sets. @param seen its workspaces and projects that the caller may see */
export const providerSetDocument = (set: ProviderSet, seen: { workspaceIds: string[]; projectIds: string[] }) => ({
  id: set.id,
  type: 'provider-sets',
  attributes: {
    name: set.name,
    description: set.description,
    global: set.global,
    priority: set.priority,
    'provider-source': set.providerSource,
    'configuration-hcl': set.configurationHcl,
    'created-at': set.createdAt,
    'updated-at': set.updatedAt,
  },
  relationships: {
    organization: one('organizations', set.organization),
    workspaces: many('workspaces', seen.workspaceIds),
    projects: many('projects', seen.projectIds),
  },
  links: { self: `/api/v2/provider-sets/${set.id}` },
});
