import { getOrganization } from '../../store/organizations.ts';
import { getProject } from '../../store/projects.ts';
import { getRun } from '../../store/runs.ts';
import { getStateVersion, readSummary } from '../../store/state-versions.ts';
import { getUser } from '../../store/users.ts';
import type { Workspace } from '../../store/workspaces.ts';
import { many, type Relationship, type Resource } from '../answer.ts';
import { organizationDocument, projectDocument } from '../documents/organizations.ts';
import { planDocument, runDocument } from '../documents/runs.ts';
import { outputId, stateVersionDocument } from '../documents/state-versions.ts';
import { userDocument } from '../documents/users.ts';
import { effectiveTagDocuments } from '../documents/workspaces.ts';
import { includes } from '../include.ts';
import { can, type Permission } from '../permissions.ts';
import type { Context } from '../route.ts';

/** What can come along with a workspace. */

export const workspaceIncludes = [
  'organization',
  'project',
  'current_run',
  'current_run.plan',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'current_state_version',
  'effective_tag_bindings',
  'locked_by',
  'outputs',
  'readme',
] as const;

type Include = (typeof workspaceIncludes)[number];

/** Each only for who may read it by itself. */
const needs: Partial<Record<Include, Permission>> = {
  organization: 'organization:read',
  project: 'project:read',
  current_run: 'run:read',
  'current_run.plan': 'run:read',
  current_state_version: 'state:read',
  outputs: 'state:read-outputs',
  locked_by: 'workspace:read',
  effective_tag_bindings: 'workspace:read',
};

export interface Related {
  included: Resource[];
  /** Those that the workspace's document has only with what they lead to. */
  relationships: Record<string, Relationship>;
}

const outputsOf = async ({ id, state }: Workspace): Promise<Resource[]> => {
  const version = state && (await getStateVersion(state.id));
  const outputs = (version && (await readSummary(version)))?.outputs ?? [];
  return outputs.map(
    ({ name, sensitive, type, value }, index): Resource => ({
      id: outputId(version?.id ?? id, index),
      type: 'workspace-outputs',
      attributes: { name, sensitive, 'output-type': type, value: sensitive ? null : value },
    }),
  );
};

/** Undefined when nothing is asked for. @throws {ApiError} 400 */
export const relatedToWorkspace = async (
  { request, subject, roles, principal }: Context<Workspace>,
  runId: string | undefined,
): Promise<Related | undefined> => {
  const asked = includes(request, workspaceIncludes);
  if (asked.size === 0) return undefined;
  const has = (name: Include) => asked.has(name) && can(roles, needs[name] ?? 'workspace:read');
  const wants = async <T>(wanted: boolean, read: () => Promise<T | undefined>) => (wanted ? read() : undefined);
  const { lock, state } = subject;
  const [home, project, run, user, version, outputs] = await Promise.all([
    wants(has('organization'), () => getOrganization(subject.organization)),
    wants(has('project') || has('effective_tag_bindings'), () => getProject(subject.projectId)),
    wants(has('current_run') || has('current_run.plan'), async () => runId && getRun(runId)),
    wants(has('locked_by'), async () => (lock?.kind === 'user' ? getUser(lock.userId) : undefined)),
    wants(has('current_state_version'), async () => state && getStateVersion(state.id)),
    wants(has('outputs'), () => outputsOf(subject)),
  ]);
  const tags = has('effective_tag_bindings') ? effectiveTagDocuments(subject, project) : undefined;
  const resources = [
    home && organizationDocument(home, roles),
    has('project') && project && projectDocument(project, roles),
    run && runDocument(run, { roles, userId: principal.userId }),
    run && has('current_run.plan') && planDocument(run, request.baseUrl),
    user && userDocument(user),
    version && stateVersionDocument(version, { baseUrl: request.baseUrl, roles }),
    ...(outputs ?? []),
    ...(tags ?? []),
  ];
  const ids = (of: Resource[]) => of.map(({ id }) => id);
  return {
    included: resources.filter((resource) => typeof resource === 'object'),
    relationships: {
      ...(outputs ? { outputs: many('workspace-outputs', ids(outputs)) } : {}),
      ...(tags ? { 'effective-tag-bindings': many('effective-tag-bindings', ids(tags)) } : {}),
    },
  };
};
