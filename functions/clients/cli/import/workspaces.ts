import { type Resource, related, relatedIds } from '#clients/client/client.ts';
import { workspaceAttributes } from '#resources/workspaces/attributes.ts';
import { ownMode } from '../own-mode.ts';
import { copiedFrom, type Import, mapped, named, nameOf, pick } from './context.ts';
import { bindingsOf, syncTags, type Tag, tagsOf } from './organization.ts';
import { part } from './source.ts';
import { copyState } from './states.ts';
import { copyVariables } from './variables.ts';

/** Workspaces with their variables, access, run tasks, notifications and states. */

/** Empty when inherited from the project; else a duration or a time. */
const autoDestroyOf = ({ attributes }: Resource): Record<string, unknown> => {
  if (attributes['inherits-project-auto-destroy'] !== false) return {};
  const duration = attributes['auto-destroy-activity-duration'];
  return duration ? { 'auto-destroy-activity-duration': duration } : pick(attributes, 'auto-destroy-at');
};

const sourceTags = async ({ source }: Import, { id, attributes }: Resource): Promise<Tag[]> => {
  const bindings = tagsOf(await source.allIfAny(`/workspaces/${part(id)}/tag-bindings`));
  const names = Array.isArray(attributes['tag-names']) ? attributes['tag-names'] : [];
  const plain = names.map(String).filter((name) => !bindings.some(({ key }) => key === name));
  const all = [...bindings, ...plain.map((key) => ({ key, value: '' }))];
  return all.sort((a, b) => (a.key < b.key ? -1 : 1));
};

/** Lists the settings that the user has to copy. Called once, when the workspace is created. */
const noteManualSteps = ({ journal }: Import, item: string, { attributes, ...identity }: Resource): void => {
  const identifier = (attributes['vcs-repo'] as { identifier?: unknown } | null)?.identifier;
  if (identifier) journal.note(item, 'todo', `connect it to ${identifier} with stepform vcs follow`);
  if (related({ attributes, ...identity }, 'ssh-key')) journal.note(item, 'todo', 'select its SSH key');
};

const copyWorkspace = async (work: Import, original: Resource, existing: Resource | undefined): Promise<Resource> => {
  const { target, into, projects, pools, journal } = work;
  const item = `workspace ${nameOf(original)}`;
  const tags = await sourceTags(work, original);
  const project = projects.get(related(original, 'project') ?? '');
  const mode = ownMode(original, 'execution-mode');
  const needsPool = mode === 'agent';
  const pool = needsPool ? pools.get(related(original, 'agent-pool') ?? '') : undefined;
  const lacksPool = needsPool && !pool;
  const copy = await target.sync({
    ...{ item, type: 'workspaces', existing, path: `/organizations/${into}/workspaces` },
    attributes: {
      ...copiedFrom(original.attributes, workspaceAttributes),
      ...(mode && !lacksPool ? { 'execution-mode': mode } : {}),
      ...autoDestroyOf(original),
    },
    relationships: {
      ...(project ? { project: { data: { type: 'projects', id: project.id } } } : {}),
      ...(pool ? { 'agent-pool': { data: { type: 'agent-pools', id: pool.id } } } : {}),
      ...bindingsOf(tags),
    },
  });
  if (existing) await syncTags(work, item, `/workspaces/${existing.id}`, existing, tags);
  else noteManualSteps(work, item, original);
  if (lacksPool) journal.note(item, 'todo', 'set its execution mode and agent pool, which was not copied');
  if (related(original, 'project') && !project)
    journal.note(item, 'todo', 'move it to its project, which was not copied');
  return copy;
};

const copyTasks = async ({ source, target, journal, tasks }: Import, original: Resource, copy: Resource) => {
  const existingTasks = await target.all(`/workspaces/${copy.id}/tasks`);
  for (const task of await source.allIfAny(`/workspaces/${part(original.id)}/tasks`)) {
    const taskCopy = tasks.get(related(task, 'task') ?? '');
    if (!taskCopy) continue;
    const item = `run task ${nameOf(original)}/${nameOf(taskCopy)}`;
    const existing = existingTasks.find((attached) => related(attached, 'task') === taskCopy.id);
    const at = `/workspaces/${copy.id}/tasks`;
    await journal.attempt(item, () =>
      target.sync({
        ...{ item, type: 'workspace-tasks', existing, path: at, changeAt: at },
        attributes: pick(task.attributes, 'enforcement-level stages'),
        relationships: { task: { data: { type: 'tasks', id: taskCopy.id } } },
      }),
    );
  }
};

/** Created disabled, so that people do not get every notification from both platforms. */
const copyNotifications = async (work: Import, original: Resource, copy: Resource) => {
  const { source, target, journal, secrets } = work;
  const path = `/workspaces/${copy.id}/notification-configurations`;
  const existingConfigurations = await target.all(path);
  for (const configuration of await source.allIfAny(`/workspaces/${part(original.id)}/notification-configurations`)) {
    const item = `notification ${nameOf(original)}/${nameOf(configuration)}`;
    const existing = named(existingConfigurations, nameOf(configuration));
    await journal.attempt(item, async () => {
      // A change would remove the users to whom it sends e-mails.
      if (existing?.attributes['destination-type'] === 'email') return journal.note(item, 'unchanged');
      const token = existing || target.isDry ? undefined : await secrets.valueOf(`token of ${item}`);
      await target.sync({
        ...{ item, type: 'notification-configurations', existing, path },
        attributes: pick(configuration.attributes, 'name destination-type url triggers'),
        initial: { enabled: false, ...(token === undefined ? {} : { token }) },
      });
      if (!existing) journal.note(item, 'todo', 'disabled: set its token if it has one, and enable it');
    });
  }
};

const grantOf = ({ attributes }: Resource, parts: string): Record<string, unknown> =>
  pick(attributes, attributes.access === 'custom' ? `access ${parts}` : 'access');

/** Team access to a workspace or a project. */
export const copyAccess = async (
  { source, target, journal, teams }: Import,
  kind: 'workspace' | 'project',
  original: Resource,
  copy: Resource,
): Promise<void> => {
  const type = `team-${kind}s`;
  const parts =
    kind === 'workspace'
      ? 'runs variables state-versions sentinel-mocks workspace-locking run-tasks'
      : 'project-access workspace-access';
  const filter = `?filter[${kind}][id]=`;
  const existingGrants = await target.all(`/${type}${filter}${copy.id}`);
  for (const grant of await source.allIfAny(`/${type}${filter}${part(original.id)}`)) {
    const team = teams.get(related(grant, 'team') ?? '');
    if (!team || nameOf(team) === 'owners') continue;
    const item = `access of team ${nameOf(team)} to ${kind} ${nameOf(original)}`;
    await journal.attempt(item, () =>
      target.sync({
        ...{
          item,
          type,
          existing: existingGrants.find((candidate) => related(candidate, 'team') === team.id),
          path: `/${type}`,
        },
        attributes: grantOf(grant, parts),
        relationships: {
          team: { data: { type: 'teams', id: team.id } },
          [kind]: { data: { type: `${kind}s`, id: copy.id } },
        },
      }),
    );
  }
};

/** The parts of one workspace; a failed part does not stop the others. */
const copyParts = async (work: Import, original: Resource, copy: Resource): Promise<void> => {
  const { journal } = work;
  const name = nameOf(original);
  const owner = {
    name,
    sourcePath: `/workspaces/${part(original.id)}/vars`,
    targetPath: `/workspaces/${copy.id}/vars`,
  };
  await journal.attempt(`variables ${name}`, () => copyVariables(work, owner));
  await journal.attempt(`access ${name}`, () => copyAccess(work, 'workspace', original, copy));
  await journal.attempt(`run tasks ${name}`, () => copyTasks(work, original, copy));
  await journal.attempt(`notifications ${name}`, () => copyNotifications(work, original, copy));
  await journal.attempt(`state ${name}`, () => copyState(work, original, copy));
};

/** Remote state consumers and run triggers, after all workspaces exist. */
const copyRelations = async (work: Import, original: Resource, copy: Resource): Promise<void> => {
  const { source, target, journal, workspaces } = work;
  const item = `workspace ${nameOf(original)}`;
  const copied = new Map([...workspaces].map(([id, pair]) => [id, pair.copy]));
  if (!original.attributes['global-remote-state']) {
    const consumers = 'relationships/remote-state-consumers';
    const consumerIds = (await source.allIfAny(`/workspaces/${part(original.id)}/${consumers}`)).map(({ id }) => id);
    const existingConsumers = (await target.all(`/workspaces/${copy.id}/${consumers}`)).map(({ id }) => id);
    await target.add(
      item,
      `/workspaces/${copy.id}/${consumers}`,
      'workspaces',
      existingConsumers,
      mapped(consumerIds, copied),
    );
  }
  const inbound = 'run-triggers?filter[run-trigger][type]=inbound';
  const existingTriggers = (await target.all(`/workspaces/${copy.id}/${inbound}`)).map((trigger) =>
    related(trigger, 'sourceable'),
  );
  for (const trigger of await source.allIfAny(`/workspaces/${part(original.id)}/${inbound}`)) {
    const from = copied.get(related(trigger, 'sourceable') ?? '');
    if (!from || existingTriggers.includes(from.id)) continue;
    const data = { type: 'run-triggers', relationships: { sourceable: { data: { type: 'workspaces', id: from.id } } } };
    await target.call('POST', `/workspaces/${copy.id}/run-triggers`, { data });
    journal.note(`run trigger ${nameOf(original)}/${nameOf(from)}`, 'created');
  }
};

export const copyWorkspaces = async (work: Import): Promise<void> => {
  const { source, target, journal, from, into, only, workspaces } = work;
  const existingWorkspaces = await target.all(`/organizations/${into}/workspaces`);
  const all = await source.all(`/organizations/${from}/workspaces`);
  for (const name of only.filter((name) => !named(all, name))) {
    journal.note(`workspace ${name}`, 'failed', 'not found in the organization at the source');
  }
  for (const original of all.filter((name) => only.length === 0 || only.includes(nameOf(name)))) {
    const item = `workspace ${nameOf(original)}`;
    const copy = await journal.attempt(item, () =>
      copyWorkspace(work, original, named(existingWorkspaces, nameOf(original))),
    );
    if (!copy) continue;
    workspaces.set(original.id, { original, copy });
    if (original.attributes.locked === true)
      journal.note(item, 'todo', 'locked at the source: lock it here too if needed');
    await copyParts(work, original, copy);
  }
  for (const { original, copy } of workspaces.values()) {
    await journal.attempt(`workspace ${nameOf(original)}`, () => copyRelations(work, original, copy));
  }
};

export const idsOfWorkspaces = (resource: Resource, name: string, { workspaces }: Import): string[] =>
  relatedIds(resource, name).flatMap((id) => workspaces.get(id)?.copy.id ?? []);
