import { type Resource, related, relatedIds } from '#clients/client/client.ts';
import { policySetAttributes } from '#resources/policies/set-attributes.ts';
import { projectAttributes } from '#resources/projects/attributes.ts';
import { taskAttributes } from '#resources/run-tasks/attributes.ts';
import { teamAttributes } from '#resources/teams/attributes.ts';
import { ownMode } from '../own-mode.ts';
import { all, args, copiedFrom, type Export, inOrganization, noteLeft, references, tagsOf } from './context.ts';
import { type Block, type Body, Reference } from './hcl.ts';

/** Agent pools, the organization's defaults, projects, teams, run tasks, policies. */

const exportPools = async (work: Export): Promise<void> => {
  const { configuration, exported } = work;
  for (const { id, attributes } of await all(work, inOrganization(work, '/agent-pools'))) {
    const body = { name: attributes.name, organization_scoped: attributes['organization-scoped'] ?? true };
    exported.set(id, configuration.resource('agents.tf', 'tfe_agent_pool', attributes.name, id, body));
  }
};

/** The pool only for the mode that needs one. */
const defaultsOf = ({ exported }: Export, resource: Resource, mode: string): Body => ({
  default_execution_mode: mode,
  default_agent_pool_id: mode === 'agent' ? exported.get(related(resource, 'default-agent-pool') ?? '') : undefined,
});

const exportDefaults = async (work: Export): Promise<void> => {
  const { client, configuration, organization } = work;
  const resource = await client.get(inOrganization(work, ''));
  const mode = resource.attributes['default-execution-mode'] ?? 'remote';
  if (mode === 'remote') return;
  const body = { organization, ...defaultsOf(work, resource, mode) };
  configuration.resource('organization.tf', 'tfe_organization_default_settings', 'defaults', organization, body);
};

const exportProjects = async (work: Export): Promise<void> => {
  const { configuration, exported } = work;
  for (const project of await all(work, inOrganization(work, '/projects'))) {
    const { id, attributes } = project;
    const tags = await tagsOf(work, `/projects/${id}`);
    const body = { ...copiedFrom(attributes, projectAttributes), ...(tags ? { tags } : {}) };
    const reference = configuration.resource('projects.tf', 'tfe_project', attributes.name, id, body);
    exported.set(id, reference);
    const mode = ownMode(project, 'default-execution-mode');
    if (!mode) continue;
    const defaults = { project_id: reference, ...defaultsOf(work, project, mode) };
    configuration.resource('projects.tf', 'tfe_project_settings', attributes.name, id, defaults);
  }
};

/** Flags that the provider supports; others keep their value on the platform. */
const flags = `manage-policies manage-policy-overrides delegate-policy-overrides manage-workspaces manage-vcs-settings
  manage-providers manage-modules manage-run-tasks manage-projects read-workspaces read-projects manage-membership
  manage-teams manage-organization-access access-secret-teams manage-agent-pools`;

const exportTeams = async (work: Export): Promise<void> => {
  const { configuration, exported, organization } = work;
  for (const { id, attributes } of await all(work, inOrganization(work, '/teams'))) {
    if (attributes.name === 'owners') continue;
    const access: Block = { type: 'organization_access', body: args(attributes['organization-access'] ?? {}, flags) };
    const body = copiedFrom(attributes, teamAttributes);
    exported.set(
      id,
      configuration.resource('teams.tf', 'tfe_team', attributes.name, `${organization}/${id}`, body, [access]),
    );
  }
};

const ofProject = 'settings teams variable-sets';
const ofWorkspaces = 'runs variables state-versions sentinel-mocks run-tasks create move delete locking';

const exportProjectAccess = async (work: Export): Promise<void> => {
  const { configuration, exported } = work;
  for (const project of await all(work, inOrganization(work, '/projects'))) {
    for (const grant of await all(work, `/team-projects?filter[project][id]=${project.id}`)) {
      const team = exported.get(related(grant, 'team') ?? '');
      if (!team) continue;
      const { access, 'project-access': onProject, 'workspace-access': onWorkspaces } = grant.attributes;
      const blocks: Block[] =
        access === 'custom'
          ? [
              { type: 'project_access', body: args(onProject ?? {}, ofProject) },
              { type: 'workspace_access', body: args(onWorkspaces ?? {}, ofWorkspaces) },
            ]
          : [];
      const name = `${team.text.split('.')[1]}_${project.attributes.name}`;
      const body = { access, team_id: team, project_id: exported.get(project.id) };
      configuration.resource('teams.tf', 'tfe_team_project_access', name, grant.id, body, blocks);
    }
  }
};

const exportTasks = async (work: Export): Promise<void> => {
  const { configuration, exported, organization, note } = work;
  for (const { id, attributes } of await all(work, inOrganization(work, '/tasks'))) {
    const body = copiedFrom(attributes, taskAttributes);
    const at = `${organization}/${attributes.name}`;
    exported.set(id, configuration.resource('run-tasks.tf', 'tfe_organization_run_task', attributes.name, at, body));
    note(`run task ${attributes.name}: set hmac_key if it has one`);
  }
};

const exportPolicy = async (work: Export, { id, attributes }: Resource): Promise<void> => {
  const { client, configuration, exported, organization } = work;
  const content = await (await client.content(`/policies/${id}/download`)).text();
  const file = `policies/${configuration.name('policy file', attributes.name)}`;
  // The provider sends the query but does not read it.
  const unread = attributes.query ? [ignoring('query')] : [];
  const body = {
    ...args(attributes, 'name description kind query'),
    enforce_mode: attributes['enforcement-level'] ?? undefined,
    policy: configuration.content(`${file}.${attributes.kind === 'opa' ? 'rego' : 'sentinel'}`, content),
  };
  exported.set(
    id,
    configuration.resource('policies.tf', 'tfe_policy', attributes.name, `${organization}/${id}`, body, unread),
  );
};

const exportParameters = async (work: Export, set: Resource): Promise<void> => {
  const { configuration, exported } = work;
  for (const { id, attributes } of await all(work, `/policy-sets/${set.id}/parameters`)) {
    const { key, sensitive, value } = attributes;
    const name = `${set.attributes.name}_${key}`;
    const secret = sensitive && configuration.secret(name, `Parameter ${key} of policy set ${set.attributes.name}`);
    const body = { key, value: secret || (value ?? ''), sensitive, policy_set_id: exported.get(set.id) };
    const at = `${set.id}/${id}`;
    configuration.resource('policies.tf', 'tfe_policy_set_parameter', name, at, body);
  }
};

const exportSet = async (work: Export, listed: Resource): Promise<void> => {
  const { client, configuration, exported, note } = work;
  const set = await client.get(`/policy-sets/${listed.id}`);
  const { attributes, id } = set;
  if (attributes['vcs-repo'] || attributes.versioned) {
    note(`policy set ${attributes.name}: not exported, because its policies come from a repository or an upload`);
    return;
  }
  const body = {
    ...copiedFrom(attributes, policySetAttributes),
    policy_ids: references(work, relatedIds(set, 'policies')),
    // The provider allows one of the two.
    ...(attributes.global ? { global: true } : { workspace_ids: references(work, relatedIds(set, 'workspaces')) }),
  };
  noteLeft(work, `policy set ${attributes.name}`, attributes, policySetAttributes);
  exported.set(id, configuration.resource('policies.tf', 'tfe_policy_set', attributes.name, id, body));
  for (const project of relatedIds(set, 'projects')) {
    const projectName = (await client.get(`/projects/${project}`)).attributes.name;
    const at = `${work.organization}/${project}/${attributes.name}`;
    const on = { policy_set_id: exported.get(id), project_id: exported.get(project) };
    configuration.resource('policies.tf', 'tfe_project_policy_set', `${attributes.name}_${projectName}`, at, on);
  }
  await exportParameters(work, set);
};

const ignoring = (argument: string): Block => ({
  type: 'lifecycle',
  body: { ignore_changes: [new Reference(argument)] },
});

export const exportOrganization = async (work: Export): Promise<void> => {
  await exportPools(work);
  await exportDefaults(work);
  await exportProjects(work);
  await exportTeams(work);
  await exportProjectAccess(work);
  await exportTasks(work);
};

/** Runs after the export of workspaces, which policy sets refer to. */
export const exportPolicies = async (work: Export): Promise<void> => {
  for (const policy of await all(work, inOrganization(work, '/policies'))) await exportPolicy(work, policy);
  for (const set of await all(work, inOrganization(work, '/policy-sets'))) await exportSet(work, set);
};
