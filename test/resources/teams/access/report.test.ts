import { describe, expect, it } from 'vitest';
import { ref, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

const api = await startApi();
const members = await memberHelpers();

const newProject = async () =>
  (await api.post('organizations/acme/projects', { name: uniqueName('project') })).body.data.id as string;
const inProject = async (projectId: string) =>
  (await api.post('organizations/acme/workspaces', { name: uniqueName('w') }, { project: ref('projects', projectId) }))
    .body.data.id as string;
const give = (workspaceId: string, teamId: string, access: string) =>
  api.post('team-workspaces', { access }, { workspace: ref('workspaces', workspaceId), team: ref('teams', teamId) });
const giveProject = (projectId: string, teamId: string, access: string) =>
  api.post('team-projects', { access }, { project: ref('projects', projectId), team: ref('teams', teamId) });

interface Entry {
  attributes: { 'holder-name': string; 'place-name': string; permissions: string[]; through: string[] };
  relationships: Record<'holder' | 'place', { data: { type: string; id: string } }>;
}

const report = async (filters: Record<string, string>, token?: string): Promise<Entry[]> => {
  const query = new URLSearchParams(Object.entries(filters).map(([name, value]) => [`filter${name}`, value]));
  const answer = await api.get(`organizations/acme/access-report?${query}`, { token });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data;
};
const status = async (query: string, token?: string): Promise<number> =>
  (await api.get(`organizations/acme/access-report?${query}`, { token })).status;
const holders = (entries: Entry[]) => entries.map(({ relationships }) => relationships.holder.data.id);

describe('users with a permission on a workspace', () => {
  it('lists members and teams, with the teams that give it, as requests find it', async () => {
    const project = await newProject();
    const workspace = await inProject(project);
    const direct = await members.withFlags('acme');
    const byProject = await members.withFlags('acme');
    const everywhere = await members.withFlags('acme', 'manage-workspaces');
    const reader = await members.withFlags('acme');
    const without = await members.withFlags('acme');
    const owner = await members.owner('acme');
    await give(workspace, direct.team.id, 'write');
    await giveProject(project, byProject.team.id, 'maintain');
    await give(workspace, reader.team.id, 'read');
    const may = await report({ '[workspace][id]': workspace, '[permission]': 'run:apply' });
    for (const { id, team } of [direct, byProject, everywhere]) {
      const own = may.filter(({ relationships }) => [id, team.id].includes(relationships.holder.data.id));
      expect(own.map(({ attributes }) => attributes.through)).toEqual([[team.name], [team.name]]);
    }
    expect(holders(may)).toContain(owner.id);
    for (const { id, team } of [reader, without]) {
      expect(holders(may)).not.toContain(id);
      expect(holders(may)).not.toContain(team.id);
    }
    // What a request finds is the measure of what the report says.
    const all = await report({ '[workspace][id]': workspace });
    const found = all.find(({ relationships }) => relationships.holder.data.id === direct.id);
    expect(found?.attributes.permissions).toContain('run:apply');
    for (const user of [direct, byProject, everywhere, reader, without, owner]) {
      const { body } = await api.get(`workspaces/${workspace}`, { token: user.token });
      const applies = body.data?.attributes.permissions['can-queue-apply'] ?? false;
      expect(holders(may).includes(user.id)).toBe(applies);
      expect(holders(all).includes(user.id)).toBe(body.data !== undefined);
    }
  });

  it('counts two teams of one member together, and names only those that give it', async () => {
    const workspace = await inProject(await newProject());
    const both = await members.withFlags('acme');
    const other = await members.withFlags('acme');
    const body = { data: [{ type: 'users', id: both.id }] };
    expect((await api.call('POST', `teams/${other.team.id}/relationships/users`, { body })).status).toBe(204);
    await give(workspace, both.team.id, 'plan');
    await give(workspace, other.team.id, 'write');
    const of = async (permission: string) => {
      const entries = await report({ '[workspace][id]': workspace, '[permission]': permission, '[user][id]': both.id });
      return entries.map(({ attributes }) => attributes.through);
    };
    expect(await of('run:apply')).toEqual([[other.team.name]]);
    expect((await of('run:plan')).flat().sort()).toEqual([both.team.name, other.team.name].sort());
    expect(await of('workspace:delete')).toEqual([]);
  });
});

describe('what one member or team may do', () => {
  it('lists the organization, projects and workspaces with access', async () => {
    const project = await newProject();
    const [inside, apart] = [await inProject(project), (await api.workspace()).id];
    const user = await members.withFlags('acme', 'manage-policies');
    await giveProject(project, user.team.id, 'write');
    await give(apart, user.team.id, 'admin');
    for (const [what, id] of [
      ['user', user.id],
      ['team', user.team.id],
    ]) {
      const entries = await report({ [`[${what}][id]`]: id ?? '' });
      expect(entries.map(({ relationships }) => relationships.place.data)).toEqual([
        { type: 'organizations', id: 'acme' },
        { type: 'projects', id: project },
        { type: 'workspaces', id: apart },
      ]);
      const [home, on, at] = entries.map(({ attributes }) => new Set(attributes.permissions));
      expect([home?.has('policy:write'), home?.has('run:apply')]).toEqual([true, false]);
      expect([on?.has('run:apply'), on?.has('workspace:delete')]).toEqual([true, false]);
      expect([at?.has('run:apply'), at?.has('workspace:delete')]).toEqual([true, true]);
    }
    const here = await report({ '[user][id]': user.id, '[workspace][id]': inside });
    expect(here.map(({ attributes }) => attributes.permissions.includes('run:apply'))).toEqual([true]);
  });
});

describe('the report shows', () => {
  it('nothing to callers without permission to read memberships', async () => {
    const { token } = await members.withLevel('acme', 'admin');
    expect(await status('', token)).toBe(403);
    expect(await status('', (await members.newUser('stranger')).token)).toBe(404);
  });

  it('only teams and places that the caller sees', async () => {
    const { id: workspace } = await api.workspace();
    const secret = await members.withFlags('acme');
    await give(workspace, secret.team.id, 'admin');
    const caller = await members.withFlags('acme', 'manage-membership');
    expect(await status(`filter[workspace][id]=${workspace}`, caller.token)).toBe(404);
    expect(await status(`filter[team][id]=${secret.team.id}`, caller.token)).toBe(404);
    const [home, ...places] = await report({ '[user][id]': secret.id }, caller.token);
    expect([home?.relationships.place.data.id, places]).toEqual(['acme', []]);
    const { body } = await api.get('organizations/acme/access-report', { token: caller.token });
    expect(body.meta['includes-secret-teams']).toBe(false);
    expect(JSON.stringify(body)).not.toContain(secret.team.id);
    // Its access there does not show the secret team.
    await give(workspace, caller.team.id, 'admin');
    const seen = await report({ '[workspace][id]': workspace }, caller.token);
    expect(holders(seen)).toContain(caller.id);
    expect(holders(seen)).not.toContain(secret.id);
  });

  it.each([
    ['filter[permission]=run:everything', 400],
    ['filter[user][id]=user-1&filter[team][id]=team-1', 400],
    ['filter[workspace][id]=ws-1&filter[project][id]=prj-1', 400],
    ['filter[user][id]=user-none', 404],
    ['filter[workspace][id]=ws-none', 404],
    ['filter[project][id]=prj-none', 404],
    ['filter[name]=x', 400],
  ])('an error for %s', async (query, expected) => {
    expect(await status(query)).toBe(expected);
  });

  it('no place of another organization', async () => {
    await api.post('organizations', { name: 'other', email: 'a@b.test' });
    const made = await api.post('organizations/other/workspaces', { name: uniqueName('w') });
    expect(await status(`filter[workspace][id]=${made.body.data.id}`)).toBe(404);
    expect(await status(`filter[project][id]=${made.body.data.relationships.project.data.id}`)).toBe(404);
  });
});
