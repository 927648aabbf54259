import { type Resource, related } from '#clients/client/client.ts';
import { variableSetAttributes } from '#resources/variables/set-attributes.ts';
import { workspaceAttributes } from '#resources/workspaces/attributes.ts';
import { ownMode } from '../own-mode.ts';
import { all, args, copiedFrom, type Export, inOrganization, noteLeft, references, tagsOf } from './context.ts';
import type { Block, Body } from './hcl.ts';

/** Workspaces with their variables, access, run tasks and notifications; variable sets. */

const repositoryOf = ({ attributes }: Resource): Block[] => {
  const repository = attributes['vcs-repo'] as Record<string, unknown> | null | undefined;
  return repository
    ? [{ type: 'vcs_repo', body: args(repository, 'identifier branch ingress-submodules oauth-token-id tags-regex') }]
    : [];
};

const autoDestroyOf = ({ attributes }: Resource): Body => {
  if (attributes['inherits-project-auto-destroy'] !== false) return {};
  const duration = attributes['auto-destroy-activity-duration'];
  return duration ? { auto_destroy_activity_duration: duration } : args(attributes, 'auto-destroy-at');
};

const exportWorkspace = async (work: Export, workspace: Resource): Promise<void> => {
  const { configuration, exported } = work;
  const { id, attributes } = workspace;
  const tags = await tagsOf(work, `/workspaces/${id}`);
  const body = {
    ...copiedFrom(attributes, workspaceAttributes),
    project_id: exported.get(related(workspace, 'project') ?? ''),
    ...autoDestroyOf(workspace),
    ...(tags ? { tags } : {}),
    ssh_key_id: related(workspace, 'ssh-key'),
  };
  const blocks = repositoryOf(workspace);
  noteLeft(work, `workspace ${attributes.name}`, attributes, workspaceAttributes);
  exported.set(id, configuration.resource('workspaces.tf', 'tfe_workspace', attributes.name, id, body, blocks));
};

/** Settings with a resource of their own in the provider. Runs after all workspaces, which they refer to. */
const exportSettings = async (work: Export, workspace: Resource): Promise<void> => {
  const { configuration, exported, note } = work;
  const { id, attributes } = workspace;
  const isGlobal = attributes['global-remote-state'] === true;
  const isForProject = attributes['project-remote-state'] === true;
  const readers = isGlobal ? [] : await all(work, `/workspaces/${id}/relationships/remote-state-consumers`);
  // The provider allows one of the two.
  const consumers = isForProject
    ? []
    : references(
        work,
        readers.map((consumer) => consumer.id),
      );
  if (isForProject && readers.length > 0)
    note(
      `workspace ${attributes.name}: remote state consumers are not exported, because the tfe provider does not allow them with project_remote_state`,
    );
  const mode = ownMode(workspace, 'execution-mode');
  const body = {
    workspace_id: exported.get(id),
    execution_mode: mode,
    agent_pool_id: mode === 'agent' ? exported.get(related(workspace, 'agent-pool') ?? '') : undefined,
    global_remote_state: isGlobal,
    ...(isForProject ? { project_remote_state: true } : {}),
    ...(consumers.length ? { remote_state_consumer_ids: consumers } : {}),
  };
  configuration.resource('workspaces.tf', 'tfe_workspace_settings', attributes.name, id, body);
};

interface Owner {
  file: string;
  name: string;
  path: string;
  /** The owner's part of its variables' import IDs. */
  at: string;
  argument: Body;
}

const exportVariables = async (work: Export, { file, name, path, at, argument }: Owner): Promise<void> => {
  const { configuration, organization } = work;
  for (const { id, attributes } of await all(work, path)) {
    const { key, category, description, hcl, sensitive, value } = attributes;
    const called = `${name}_${category === 'env' ? 'env_' : ''}${key}`;
    const secret = sensitive && configuration.secret(called, `Variable ${key} of ${name}`);
    const body = {
      ...{ key, value: secret || (value ?? ''), category },
      description: description || undefined,
      ...{ hcl, sensitive, ...argument },
    };
    configuration.resource(file, 'tfe_variable', called, `${organization}/${at}/${id}`, body);
  }
};

const exportSets = async (work: Export): Promise<void> => {
  const { client, configuration, exported, organization } = work;
  for (const { id } of await all(work, inOrganization(work, '/varsets'))) {
    const set = await client.get(`/varsets/${id}`);
    const { name } = set.attributes;
    const parent = set.relationships?.parent?.data;
    // An organization is not exported.
    const home = parent && !Array.isArray(parent) ? exported.get(parent.id) : undefined;
    const body = { ...copiedFrom(set.attributes, variableSetAttributes), parent_project_id: home };
    const reference = configuration.resource('variable-sets.tf', 'tfe_variable_set', name, id, body);
    const owner = { file: 'variable-sets.tf', name, path: `/varsets/${id}/relationships/vars`, at: id };
    await exportVariables(work, { ...owner, argument: { variable_set_id: reference } });
    for (const kind of ['workspace', 'project'] as const) {
      const targets = set.relationships?.[`${kind}s`]?.data;
      for (const target of Array.isArray(targets) ? targets : []) {
        const there = exported.get(target.id);
        if (!there) continue;
        const called = `${name}_${there.text.split('.')[1]}`;
        const container =
          kind === 'project' ? target.id : (await client.get(`/workspaces/${target.id}`)).attributes.name;
        const on = { variable_set_id: reference, [`${kind}_id`]: there };
        const at = `${organization}/${container}/${name}`;
        configuration.resource('variable-sets.tf', `tfe_${kind}_variable_set`, called, at, on);
      }
    }
  }
};

const parts = 'runs variables state-versions sentinel-mocks workspace-locking run-tasks';

const exportAccess = async (work: Export, { id, attributes: { name } }: Resource): Promise<void> => {
  const { configuration, exported, organization } = work;
  for (const grant of await all(work, `/team-workspaces?filter[workspace][id]=${id}`)) {
    const team = exported.get(related(grant, 'team') ?? '');
    if (!team) continue;
    const { access } = grant.attributes;
    const isCustom = access === 'custom';
    const body = { access: isCustom ? undefined : access, team_id: team, workspace_id: exported.get(id) };
    const blocks = isCustom ? [{ type: 'permissions', body: args(grant.attributes, parts) }] : [];
    const called = `${team.text.split('.')[1]}_${name}`;
    configuration.resource('teams.tf', 'tfe_team_access', called, `${organization}/${name}/${grant.id}`, body, blocks);
  }
};

const exportRest = async (work: Export, { id, attributes: { name } }: Resource): Promise<void> => {
  const { configuration, exported, organization, note } = work;
  const workspace = exported.get(id);
  for (const task of await all(work, `/workspaces/${id}/tasks`)) {
    const taskReference = exported.get(related(task, 'task') ?? '');
    if (!taskReference) continue;
    const label = taskReference.text.split('.')[1];
    const body = {
      workspace_id: workspace,
      task_id: taskReference,
      ...args(task.attributes, 'enforcement-level stages'),
    };
    const taskName = (await work.client.get(`/tasks/${related(task, 'task')}`)).attributes.name;
    const at = `${organization}/${name}/${taskName}`;
    configuration.resource('run-tasks.tf', 'tfe_workspace_run_task', `${name}_${label}`, at, body);
  }
  for (const notification of await all(work, `/workspaces/${id}/notification-configurations`)) {
    const body = {
      ...args(notification.attributes, 'name destination-type url triggers enabled'),
      workspace_id: workspace,
    };
    const called = `${name}_${notification.attributes.name}`;
    configuration.resource('notifications.tf', 'tfe_notification_configuration', called, notification.id, body);
    note(`notification ${name}/${notification.attributes.name}: set token if it has one`);
  }
  for (const trigger of await all(work, `/workspaces/${id}/run-triggers?filter[run-trigger][type]=inbound`)) {
    const source = exported.get(related(trigger, 'sourceable') ?? '');
    if (!source) continue;
    const called = `${name}_after_${source.text.split('.')[1]}`;
    const body = { workspace_id: workspace, sourceable_id: source };
    configuration.resource('workspaces.tf', 'tfe_run_trigger', called, trigger.id, body);
  }
};

export const exportWorkspaces = async (work: Export): Promise<void> => {
  const workspaces = await all(work, inOrganization(work, '/workspaces'));
  for (const workspace of workspaces) await exportWorkspace(work, workspace);
  for (const workspace of workspaces) {
    const { id, attributes } = workspace;
    await exportSettings(work, workspace);
    const owner = { file: 'variables.tf', name: attributes.name, path: `/workspaces/${id}/vars`, at: attributes.name };
    const reference = work.exported.get(id);
    await exportVariables(work, { ...owner, argument: { workspace_id: reference } });
    await exportAccess(work, workspace);
    await exportRest(work, workspace);
  }
  await exportSets(work);
};
