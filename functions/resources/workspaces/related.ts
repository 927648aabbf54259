import type { Relationship, Resource } from '#api/answer.ts';
import { includable } from '#api/include.ts';
import type { Granted } from '#api/permissions/granted.ts';
import type { Permission } from '#api/permissions/permissions.ts';
import type { Context, Subject } from '#api/route.ts';
import type { Run } from '#run/run.ts';
import type { Workspace } from './records.ts';

/** Resources that can be included with a workspace, and the permission to read each. */
export const includePermissions = {
  agent_pool: 'agent-pool:read',
  organization: 'organization:read',
  project: 'project:read',
  current_run: 'run:read',
  'current_run.plan': 'run:read',
  'current_run.apply': 'run:read',
  'current_run.configuration_version': 'configuration:read',
  latest_run: 'run:read',
  'latest_run.plan': 'run:read',
  'latest_run.apply': 'run:read',
  'latest_run.configuration_version': 'configuration:read',
  current_assessment_result: 'workspace:read',
  current_configuration_version: 'configuration:read',
  current_state_version: 'state:read',
  effective_tag_bindings: 'workspace:read',
  locked_by: 'workspace:read',
  outputs: 'state:read-outputs',
  readme: 'configuration:read',
  vars: 'variable:read',
} as const satisfies Record<string, Permission>;

/** This platform has no such resources, so nothing is included. */
const never = ['no_code_module_version', 'ssh_key'] as const;

/** Includes of the commit of a configuration. */
export const commitIncludes = [
  'current_configuration_version.ingress_attributes',
  'current_run.configuration_version.ingress_attributes',
  'latest_run.configuration_version.ingress_attributes',
] as const;

export const workspaceIncludes = includable(
  ...(Object.keys(includePermissions) as (keyof typeof includePermissions)[]),
  ...commitIncludes,
  ...never,
);

/** A workspace with its current run. */
export interface ShownWorkspace {
  workspace: Workspace;
  runId: string | undefined;
}

export interface Related {
  included: Resource[];
  /** By workspace: relationships that a document has only when they are included. */
  relationships: Map<string, Record<string, Relationship>>;
}

/** Adds the relationships of the included resources to the workspace's document. */
export const withRelated = (document: Resource, related: Related | undefined): Resource => ({
  ...document,
  relationships: { ...document.relationships, ...related?.relationships.get(document.id) },
});

/** Loads the requested includes (public-api/includes/workspaces.ts). Undefined without any. @throws {ApiError} 400 */
export type RelatedToWorkspaces = (
  context: Context<Subject>,
  shown: ShownWorkspace[],
  granted: (workspaceId: string) => Granted,
) => Promise<Related | undefined>;

/** Parts of lists and documents of workspaces that are implemented in wings above. */
export interface WorkspaceDependencies {
  /** Ids of the workspace's variables. */
  variableIds(workspaceId: string): Promise<string[]>;
  related: RelatedToWorkspaces;
  getRuns(ids: string[]): Promise<Run[]>;
  /** Ids of workspaces created from a module that has a newer version (features/no-code/upgrades.ts). */
  upgradable(workspaces: Workspace[]): Promise<Set<string>>;
}

/** Marks a document whose workspace can be upgraded. */
export const withUpgrade = <D extends { id: string; attributes: object }>(document: D, upgradable: Set<string>): D =>
  upgradable.has(document.id)
    ? { ...document, attributes: { ...document.attributes, 'no-code-upgrade-available': true } }
    : document;
