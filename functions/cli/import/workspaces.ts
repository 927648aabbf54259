import { type Resource, related } from '../../client/client.ts';
import { type Import, idsIn, mapped, named, nameOf, pick } from './context.ts';
import { bindingsOf, syncTags, type Tag, tagsOf } from './organization.ts';
import { part } from './source.ts';
import { copyState } from './states.ts';
import { copyVariables } from './variables.ts';

/** Workspaces with what hangs on them. */

const settings = `name description auto-apply auto-apply-run-trigger allow-destroy-plan queue-all-runs speculative-enabled
  structured-run-output-enabled file-triggers-enabled trigger-prefixes trigger-patterns terraform-version
  working-directory global-remote-state assessments-enabled source-name source-url`;

/** Its pool is what its mode is good for. */
const poolOf = ({ pools }: Import, workspace: Resource): Resource | undefined =>
  pools.get(related(workspace, 'agent-pool') ?? '');

const modeOf = (work: Import, workspace: Resource): Record<string, unknown> => {
  const { attributes } = workspace;
  const overwrites = attributes['setting-overwrites'] as Record<string, unknown> | undefined;
  if (overwrites?.['execution-mode'] === false) return {};
  if (attributes['execution-mode'] === 'agent' && !poolOf(work, workspace)) return {};
  return pick(attributes, 'execution-mode');
};

/** A workspace either follows its project, or has a time or a duration of its own. */
const autoDestroyOf = ({ attributes }: Resource): Record<string, unknown> => {
  if (attributes['inherits-project-auto-destroy'] !== false) return {};
  const duration = attributes['auto-destroy-activity-duration'];
  return duration ? { 'auto-destroy-activity-duration': duration } : pick(attributes, 'auto-destroy-at');
};

const tagsThere = async ({ source }: Import, { id, attributes }: Resource): Promise<Tag[]> => {
  const bindings = tagsOf(await source.allIfAny(`/workspaces/${part(id)}/tag-bindings`));
  const names = Array.isArray(attributes['tag-names']) ? attributes['tag-names'] : [];
  if (bindings.length > 0) return bindings;
  return names.map((key) => ({ key: String(key), value: '' })).sort((a, b) => (a.key < b.key ? -1 : 1));
};

/** What nobody can copy, said once: when the workspace is new. */
const sayRest = ({ journal }: Import, item: string, { attributes, ...there }: Resource): void => {
  const identifier = (attributes['vcs-repo'] as { identifier?: unknown } | null)?.identifier;
  if (identifier) journal.note(item, 'todo', `connect it to ${identifier}: stepform vcs follow`);
  if (related({ attributes, ...there }, 'ssh-key')) journal.note(item, 'todo', 'give it its SSH key');
};

const copyWorkspace = async (work: Import, there: Resource, existing: Resource | undefined): Promise<Resource> => {
  const { target, into, projects } = work;
  const item = `workspace ${nameOf(there)}`;
  const tags = await tagsThere(work, there);
  const project = projects.get(related(there, 'project') ?? '');
  const mode = modeOf(work, there);
  const pool = mode['execution-mode'] === 'agent' ? poolOf(work, there) : undefined;
  const here = await target.sync({
    ...{ item, type: 'workspaces', existing, path: `/organizations/${into}/workspaces` },
    attributes: { ...pick(there.attributes, settings), ...mode, ...autoDestroyOf(there) },
    relationships: {
      ...(project ? { project: { data: { type: 'projects', id: project.id } } } : {}),
      ...(pool ? { 'agent-pool': { data: { type: 'agent-pools', id: pool.id } } } : {}),
      ...(existing ? {} : bindingsOf(tags)),
    },
  });
  if (existing) await syncTags(work, item, `/workspaces/${existing.id}`, existing, tags);
  else sayRest(work, item, there);
  return here;
};

const copyTasks = async ({ source, target, journal, tasks }: Import, there: Resource, here: Resource) => {
  const present = await target.all(`/workspaces/${here.id}/tasks`);
  for (const task of await source.allIfAny(`/workspaces/${part(there.id)}/tasks`)) {
    const ours = tasks.get(related(task, 'task') ?? '');
    if (!ours) continue;
    const item = `run task ${nameOf(there)}/${nameOf(ours)}`;
    const existing = present.find((one) => related(one, 'task') === ours.id);
    const at = `/workspaces/${here.id}/tasks`;
    await journal.attempt(item, () =>
      target.sync({
        ...{ item, type: 'workspace-tasks', existing, path: at, changeAt: at },
        attributes: pick(task.attributes, 'enforcement-level stages'),
        relationships: { task: { data: { type: 'tasks', id: ours.id } } },
      }),
    );
  }
};

/** New ones are off: nobody is to be told of the same thing by both platforms. */
const copyNotifications = async (work: Import, there: Resource, here: Resource) => {
  const { source, target, journal, secrets } = work;
  const path = `/workspaces/${here.id}/notification-configurations`;
  const present = await target.all(path);
  for (const one of await source.allIfAny(`/workspaces/${part(there.id)}/notification-configurations`)) {
    const item = `notification ${nameOf(there)}/${nameOf(one)}`;
    const existing = named(present, nameOf(one));
    await journal.attempt(item, async () => {
      const token = existing || target.isDry ? undefined : await secrets.valueOf(`token of ${item}`);
      await target.sync({
        ...{ item, type: 'notification-configurations', existing, path },
        attributes: pick(one.attributes, 'name destination-type url triggers'),
        initial: { enabled: false, ...(token === undefined ? {} : { token }) },
      });
      if (!existing) journal.note(item, 'todo', 'is off: set its token, if it has one, and enable it');
    });
  }
};

const grantOf = ({ attributes }: Resource, parts: string): Record<string, unknown> =>
  pick(attributes, attributes.access === 'custom' ? `access ${parts}` : 'access');

/** What teams may do with a workspace or a project. */
export const copyAccess = async (
  { source, target, journal, teams }: Import,
  kind: 'workspace' | 'project',
  there: Resource,
  here: Resource,
): Promise<void> => {
  const type = `team-${kind}s`;
  const parts =
    kind === 'workspace'
      ? 'runs variables state-versions sentinel-mocks workspace-locking run-tasks'
      : 'project-access workspace-access';
  const filter = `?filter[${kind}][id]=`;
  const present = await target.all(`/${type}${filter}${here.id}`);
  for (const grant of await source.allIfAny(`/${type}${filter}${part(there.id)}`)) {
    const team = teams.get(related(grant, 'team') ?? '');
    if (!team || nameOf(team) === 'owners') continue;
    const item = `access of team ${nameOf(team)} to ${kind} ${nameOf(there)}`;
    await journal.attempt(item, () =>
      target.sync({
        ...{ item, type, existing: present.find((one) => related(one, 'team') === team.id), path: `/${type}` },
        attributes: grantOf(grant, parts),
        relationships: {
          team: { data: { type: 'teams', id: team.id } },
          [kind]: { data: { type: `${kind}s`, id: here.id } },
        },
      }),
    );
  }
};

/** What hangs on one workspace. Each part goes on without the others. */
const copyParts = async (work: Import, there: Resource, here: Resource): Promise<void> => {
  const { journal } = work;
  const name = nameOf(there);
  const owner = { name, there: `/workspaces/${part(there.id)}/vars`, here: `/workspaces/${here.id}/vars` };
  await journal.attempt(`variables ${name}`, () => copyVariables(work, owner));
  await journal.attempt(`access ${name}`, () => copyAccess(work, 'workspace', there, here));
  await journal.attempt(`run tasks ${name}`, () => copyTasks(work, there, here));
  await journal.attempt(`notifications ${name}`, () => copyNotifications(work, there, here));
  await journal.attempt(`state ${name}`, () => copyState(work, there, here));
};

/** Which other workspaces read its state, and whose applies start its runs: when all are there. */
const copyRelations = async (work: Import, there: Resource, here: Resource): Promise<void> => {
  const { source, target, journal, workspaces } = work;
  const item = `workspace ${nameOf(there)}`;
  const copied = new Map([...workspaces].map(([id, one]) => [id, one.here]));
  if (!there.attributes['global-remote-state']) {
    const consumers = 'relationships/remote-state-consumers';
    const wanted = (await source.allIfAny(`/workspaces/${part(there.id)}/${consumers}`)).map(({ id }) => id);
    const present = (await target.all(`/workspaces/${here.id}/${consumers}`)).map(({ id }) => id);
    await target.add(item, `/workspaces/${here.id}/${consumers}`, 'workspaces', present, mapped(wanted, copied));
  }
  const inbound = 'run-triggers?filter[run-trigger][type]=inbound';
  const present = (await target.all(`/workspaces/${here.id}/${inbound}`)).map((one) => related(one, 'sourceable'));
  for (const trigger of await source.allIfAny(`/workspaces/${part(there.id)}/${inbound}`)) {
    const from = copied.get(related(trigger, 'sourceable') ?? '');
    if (!from || present.includes(from.id)) continue;
    const data = { type: 'run-triggers', relationships: { sourceable: { data: { type: 'workspaces', id: from.id } } } };
    await target.call('POST', `/workspaces/${here.id}/run-triggers`, { data });
    journal.note(`run trigger ${nameOf(there)}/${nameOf(from)}`, 'created');
  }
};

export const copyWorkspaces = async (work: Import): Promise<void> => {
  const { source, target, journal, from, into, only, workspaces } = work;
  const here = await target.all(`/organizations/${into}/workspaces`);
  const all = await source.all(`/organizations/${from}/workspaces`);
  for (const name of only.filter((one) => !named(all, one))) {
    journal.note(`workspace ${name}`, 'failed', 'is not in the organization at the source');
  }
  for (const there of all.filter((one) => only.length === 0 || only.includes(nameOf(one)))) {
    const item = `workspace ${nameOf(there)}`;
    const made = await journal.attempt(item, () => copyWorkspace(work, there, named(here, nameOf(there))));
    if (!made) continue;
    workspaces.set(there.id, { there, here: made });
    if (there.attributes.locked === true) journal.note(item, 'todo', 'is locked at the source');
    await copyParts(work, there, made);
  }
  for (const { there, here: made } of workspaces.values()) {
    await journal.attempt(`workspace ${nameOf(there)}`, () => copyRelations(work, there, made));
  }
};

export const idsOfWorkspaces = (resource: Resource, name: string, { workspaces }: Import): string[] =>
  idsIn(resource, name).flatMap((id) => workspaces.get(id)?.here.id ?? []);
