import type { Relationship, Resource } from '#api/answer.ts';
import { includable } from '#api/include.ts';
import type { Granted } from '#api/permissions/granted.ts';
import type { Permission } from '#api/permissions/permissions.ts';
import type { Context, Subject } from '#api/route.ts';
import type { Run } from '#run/run.ts';
import type { Workspace } from './records.ts';

/** What can be included with a workspace, and the permission that reading it takes. */
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

/** Nothing of the kind exists here. */
const never = ['no_code_module_version', 'ssh_key'] as const;

/** Which commit a configuration is of comes along with it. */
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
  /** Relationships that a document has only when they are included, by workspace. */
  relationships: Map<string, Record<string, Relationship>>;
}

/** Adds the relationships of the included resources to the workspace's document. */
export const withRelated = (document: Resource, related: Related | undefined): Resource => ({
  ...document,
  relationships: { ...document.relationships, ...related?.relationships.get(document.id) },
});

/** What is asked to come along (public-api/includes/workspaces.ts). Undefined when nothing is. @throws {ApiError} 400 */
export type RelatedToWorkspaces = (
  context: Context<Subject>,
  shown: ShownWorkspace[],
  granted: (workspaceId: string) => Granted,
) => Promise<Related | undefined>;

/** What lists and documents of workspaces need from subjects above. */
export interface WorkspaceDependencies {
  /** Of the workspace's variables. */
  variableIds(workspaceId: string): Promise<string[]>;
  related: RelatedToWorkspaces;
  getRuns(ids: string[]): Promise<Run[]>;
  /** Ids of those that were made from a module which has another version by now (features/no-code/upgrades.ts). */
  upgradable(workspaces: Workspace[]): Promise<Set<string>>;
}

/** Says in the document that there is an upgrade. */
export const withUpgrade = <D extends { id: string; attributes: object }>(document: D, upgradable: Set<string>): D =>
  upgradable.has(document.id)
    ? { ...document, attributes: { ...document.attributes, 'no-code-upgrade-available': true } }
    : document;
