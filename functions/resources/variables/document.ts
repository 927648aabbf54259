import { many, one, type Relationship } from '#api/answer.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { isModule, isVariableSet } from '#platform/store/keys.ts';
import type { Variable } from './records.ts';
import type { VariableSet } from './set-records.ts';

/** `relationships`: the variable's relationships within one workspace. */
export const variableDocument = (variable: Variable, relationships: Record<string, Relationship> = {}) => {
  const { owner, type, self } = placeOf(variable);
  return {
    id: variable.id,
    type: 'vars',
    attributes: {
      key: variable.key,
      value: variable.sensitive ? null : (variable.value ?? ''),
      sensitive: variable.sensitive,
      category: variable.category,
      hcl: variable.hcl,
      description: variable.description,
      'created-at': variable.createdAt,
      'version-id': variable.versionId,
    },
    relationships: {
      configurable: one(type, variable.ownerId),
      [owner]: one(type, variable.ownerId),
      ...relationships,
    },
    links: { self },
  };
};

const placeOf = ({ ownerId, id }: Variable): { owner: string; type: string; self: string | null } => {
  if (isVariableSet(ownerId)) {
    return { owner: 'varset', type: 'varsets', self: `/api/v2/varsets/${ownerId}/relationships/vars/${id}` };
  }
  // Its path contains the module's address.
  if (isModule(ownerId)) return { owner: 'registry-module', type: 'registry-modules', self: null };
  return { owner: 'workspace', type: 'workspaces', self: `/api/v2/workspaces/${ownerId}/vars/${id}` };
};

const ids = (set: Set<string> | undefined): string[] => [...(set ?? [])].sort();

export const variableSetDocument = (set: VariableSet, granted: Granted) => ({
  id: set.id,
  type: 'varsets',
  attributes: {
    name: set.name,
    description: set.description,
    global: set.global,
    priority: set.priority,
    'updated-at': set.updatedAt,
    'var-count': set.variableIds?.size ?? 0,
    'workspace-count': set.workspaceIds?.size ?? 0,
    'project-count': set.projectIds?.size ?? 0,
    'stack-count': 0,
    permissions: { 'can-update': granted.has('varset:write') },
  },
  relationships: {
    organization: one('organizations', set.organization),
    parent: set.projectId ? one('projects', set.projectId) : one('organizations', set.organization),
    vars: many('vars', ids(set.variableIds)),
    workspaces: many('workspaces', ids(set.workspaceIds)),
    projects: many('projects', ids(set.projectIds)),
    stacks: many('stacks', []),
  },
  links: { self: `/api/v2/varsets/${set.id}` },
});
