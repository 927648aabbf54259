import { type Resource, related } from '../../client/client.ts';
import { type Import, named, nameOf, pick } from './context.ts';
import { part } from './source.ts';

/** What belongs to the organization as a whole: agent pools, projects, teams, run tasks. */

export interface Tag {
  key: string;
  value: string;
}

/** Of a workspace or project; hosts from before there were bindings have none. */
export const tagsOf = (bindings: Resource[]): Tag[] =>
  bindings
    .map(({ attributes: { key, value } }) => ({ key: String(key), value: String(value ?? '') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

export const bindingsOf = (tags: Tag[]) => ({
  'tag-bindings': { data: tags.map((attributes) => ({ type: 'tag-bindings', attributes })) },
});

/** Brings the tags of what is there to those of the source. A new one has got them already. */
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

const copyPools = async ({ source, target, journal, from, into, pools }: Import): Promise<void> => {
  const here = await target.all(`/organizations/${into}/agent-pools`);
  for (const pool of await source.allIfAny(`/organizations/${from}/agent-pools`)) {
    const item = `agent pool ${nameOf(pool)}`;
    const existing = named(here, nameOf(pool));
    const made = await journal.attempt(item, () =>
      target.sync({
        ...{ item, type: 'agent-pools', existing, path: `/organizations/${into}/agent-pools` },
        attributes: { name: nameOf(pool) },
      }),
    );
    if (!made) continue;
    pools.set(pool.id, made);
    if (!existing) journal.note(item, 'todo', 'connect agents to it');
  }
};

/** Null for one that follows what is above it. */
const modeOf = ({ attributes }: Resource, name: string): Record<string, unknown> => {
  const overwrites = attributes['setting-overwrites'] as Record<string, unknown> | undefined;
  return overwrites?.[name] === false ? {} : pick(attributes, name);
};

const copyProject = async (work: Import, project: Resource, existing: Resource | undefined): Promise<Resource> => {
  const { source, target, into, pools } = work;
  const item = `project ${nameOf(project)}`;
  const tags = tagsOf(await source.allIfAny(`/projects/${part(project.id)}/tag-bindings`));
  const pool = pools.get(related(project, 'default-agent-pool') ?? '');
  const made = await target.sync({
    ...{ item, type: 'projects', existing, path: `/organizations/${into}/projects` },
    attributes: {
      ...pick(project.attributes, 'name description auto-destroy-activity-duration'),
      ...modeOf(project, 'default-execution-mode'),
    },
    relationships: {
      ...(existing ? {} : bindingsOf(tags)),
      ...(pool ? { 'default-agent-pool': { data: { type: 'agent-pools', id: pool.id } } } : {}),
    },
  });
  if (existing) await syncTags(work, item, `/projects/${existing.id}`, existing, tags);
  return made;
};

const copyProjects = async (work: Import): Promise<void> => {
  const { source, target, journal, from, into, projects } = work;
  const here = await target.all(`/organizations/${into}/projects`);
  for (const project of await source.all(`/organizations/${from}/projects`)) {
    const made = await journal.attempt(`project ${nameOf(project)}`, () =>
      copyProject(work, project, named(here, nameOf(project))),
    );
    if (made) projects.set(project.id, made);
  }
};

/** Flags that are on: one that is off need not be known here. */
const flagsOf = ({ attributes }: Resource): Record<string, boolean> => {
  const flags = (attributes['organization-access'] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(flags).flatMap(([name, on]) => (on === true ? [[name, true as const]] : [])),
  );
};

/** Who is in them, people decide: accounts are the platform's own. */
const copyTeams = async ({ source, target, journal, from, into, teams }: Import): Promise<void> => {
  const here = await target.all(`/organizations/${into}/teams`);
  for (const team of await source.allIfAny(`/organizations/${from}/teams`)) {
    const item = `team ${nameOf(team)}`;
    const existing = named(here, nameOf(team));
    if (nameOf(team) === 'owners') {
      if (existing) teams.set(team.id, existing);
      continue;
    }
    const made = await journal.attempt(item, () =>
      target.sync({
        ...{ item, type: 'teams', existing, path: `/organizations/${into}/teams` },
        attributes: {
          ...pick(team.attributes, 'name visibility allow-member-token-management'),
          'organization-access': flagsOf(team),
        },
      }),
    );
    if (made) teams.set(team.id, made);
    if (made && !existing) journal.note(item, 'todo', 'invite its members');
  }
};

const copyTasks = async (work: Import): Promise<void> => {
  const { source, target, journal, secrets, from, into, tasks } = work;
  const here = await target.all(`/organizations/${into}/tasks`);
  for (const task of await source.allIfAny(`/organizations/${from}/tasks`)) {
    const item = `run task ${nameOf(task)}`;
    const existing = named(here, nameOf(task));
    const made = await journal.attempt(item, async () => {
      // Nobody tells whether it has one.
      const key = existing || target.isDry ? undefined : await secrets.valueOf(`key of ${item}`);
      return target.sync({
        ...{ item, type: 'tasks', changeAt: '/tasks', existing, path: `/organizations/${into}/tasks` },
        attributes: pick(task.attributes, 'name url description enabled category global-configuration'),
        ...(key === undefined ? {} : { initial: { 'hmac-key': key } }),
      });
    });
    if (made) tasks.set(task.id, made);
    if (made && !existing) journal.note(`key of ${item}`, 'todo', 'set its HMAC key, if it has one');
  }
};

export const copyOrganization = async (work: Import): Promise<void> => {
  const { journal } = work;
  await journal.attempt('agent pools', () => copyPools(work));
  await journal.attempt('projects', () => copyProjects(work));
  await journal.attempt('teams', () => copyTeams(work));
  await journal.attempt('run tasks', () => copyTasks(work));
};
