import { type Resource, related } from '#clients/client/client.ts';
import { projectAttributes } from '#resources/projects/attributes.ts';
import { taskAttributes } from '#resources/run-tasks/attributes.ts';
import { teamAttributes } from '#resources/teams/attributes.ts';
import { ownMode } from '../own-mode.ts';
import { copiedFrom, type Import, named, nameOf } from './context.ts';
import { needed } from './needs.ts';
import { part } from './source.ts';

/** Agent pools, projects, teams and run tasks. */

export interface Tag {
  key: string;
  value: string;
}

/** Tags of a workspace or project; older hosts have no tag bindings. */
export const tagsOf = (bindings: Resource[]): Tag[] =>
  bindings
    .map(({ attributes: { key, value } }) => ({ key: String(key), value: String(value ?? '') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

export const bindingsOf = (tags: Tag[]) => ({
  'tag-bindings': { data: tags.map((attributes) => ({ type: 'tag-bindings', attributes })) },
});

/** Updates the tags of an existing resource. New resources are created with their tags. */
export const syncTags = async (
  { target, journal }: Import,
  item: string,
  path: string,
  { type, id }: Resource,
  wanted: Tag[],
): Promise<void> => {
  const present = tagsOf(await target.all(`${path}/tag-bindings`));
  if (JSON.stringify(present) === JSON.stringify(wanted)) return;
  await target.call('PATCH', path, { data: { type, id, attributes: {}, relationships: bindingsOf(wanted) } });
  journal.note(item, 'changed', 'tags');
};

/** The target's resource for the source's, also one that could not be changed; undefined if there is none. */
const use = (copies: Map<string, Resource>, original: Resource, copy: Resource | undefined): void => {
  if (copy) copies.set(original.id, copy);
};

const copyPools = async ({ source, target, journal, from, into, pools, needs }: Import): Promise<void> => {
  const existingResources = await target.all(`/organizations/${into}/agent-pools`);
  for (const pool of needed(await source.allIfAny(`/organizations/${from}/agent-pools`), needs, 'pools')) {
    const item = `agent pool ${nameOf(pool)}`;
    const existing = named(existingResources, nameOf(pool));
    const copy = await journal.attempt(item, () =>
      target.sync({
        ...{ item, type: 'agent-pools', existing, path: `/organizations/${into}/agent-pools` },
        attributes: { name: nameOf(pool) },
      }),
    );
    use(pools, pool, copy ?? existing);
    if (copy && !existing) journal.note(item, 'todo', 'connect agents to this pool');
  }
};

const copyProject = async (work: Import, project: Resource, existing: Resource | undefined): Promise<Resource> => {
  const { source, target, into, pools } = work;
  const item = `project ${nameOf(project)}`;
  const tags = tagsOf(await source.allIfAny(`/projects/${part(project.id)}/tag-bindings`));
  const pool = pools.get(related(project, 'default-agent-pool') ?? '');
  const mode = ownMode(project, 'default-execution-mode');
  const copy = await target.sync({
    ...{ item, type: 'projects', existing, path: `/organizations/${into}/projects` },
    attributes: {
      ...copiedFrom(project.attributes, projectAttributes),
      ...(mode ? { 'default-execution-mode': mode } : {}),
    },
    relationships: {
      ...bindingsOf(tags),
      ...(pool ? { 'default-agent-pool': { data: { type: 'agent-pools', id: pool.id } } } : {}),
    },
  });
  if (existing) await syncTags(work, item, `/projects/${existing.id}`, existing, tags);
  return copy;
};

const copyProjects = async (work: Import): Promise<void> => {
  const { source, target, journal, from, into, projects, needs } = work;
  const existingResources = await target.all(`/organizations/${into}/projects`);
  for (const project of needed(await source.all(`/organizations/${from}/projects`), needs, 'projects')) {
    const existing = named(existingResources, nameOf(project));
    const copy = await journal.attempt(`project ${nameOf(project)}`, () => copyProject(work, project, existing));
    use(projects, project, copy ?? existing);
  }
};

/** Only the enabled flags, because the target may not support the others. */
const flagsOf = ({ attributes }: Resource): Record<string, boolean> => {
  const flags = (attributes['organization-access'] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(flags).flatMap(([name, on]) => (on === true ? [[name, true as const]] : [])),
  );
};

/** Copies teams without members: each platform has its own accounts. */
const copyTeams = async ({ source, target, journal, from, into, teams, needs }: Import): Promise<void> => {
  const existingResources = await target.all(`/organizations/${into}/teams`);
  for (const team of needed(await source.allIfAny(`/organizations/${from}/teams`), needs, 'teams')) {
    const item = `team ${nameOf(team)}`;
    const existing = named(existingResources, nameOf(team));
    if (nameOf(team) === 'owners') {
      use(teams, team, existing);
      continue;
    }
    const copy = await journal.attempt(item, () =>
      target.sync({
        ...{ item, type: 'teams', existing, path: `/organizations/${into}/teams` },
        attributes: {
          ...copiedFrom(team.attributes, teamAttributes),
          'organization-access': flagsOf(team),
        },
      }),
    );
    use(teams, team, copy ?? existing);
    if (copy && !existing) journal.note(item, 'todo', 'invite the members');
  }
};

const copyTasks = async (work: Import): Promise<void> => {
  const { source, target, journal, secrets, from, into, tasks, needs } = work;
  const existingResources = await target.all(`/organizations/${into}/tasks`);
  for (const task of needed(await source.allIfAny(`/organizations/${from}/tasks`), needs, 'tasks')) {
    const item = `run task ${nameOf(task)}`;
    const existing = named(existingResources, nameOf(task));
    const copy = await journal.attempt(item, async () => {
      // The API does not return whether the task has a key.
      const key = existing || target.isDry ? undefined : await secrets.valueOf(`key of ${item}`);
      return target.sync({
        ...{ item, type: 'tasks', changeAt: '/tasks', existing, path: `/organizations/${into}/tasks` },
        attributes: copiedFrom(task.attributes, taskAttributes),
        ...(key === undefined ? {} : { initial: { 'hmac-key': key } }),
      });
    });
    use(tasks, task, copy ?? existing);
    if (copy && !existing) journal.note(`key of ${item}`, 'todo', 'set the HMAC key if the task has one');
  }
};

export const copyOrganization = async (work: Import): Promise<void> => {
  const { journal } = work;
  await journal.attempt('agent pools', () => copyPools(work));
  await journal.attempt('projects', () => copyProjects(work));
  await journal.attempt('teams', () => copyTeams(work));
  await journal.attempt('run tasks', () => copyTasks(work));
};
