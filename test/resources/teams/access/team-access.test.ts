import { describe, expect, it } from 'vitest';
import { pointerOf, ref, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { ids, on } from '#test/support/runs.ts';

const api = await startApi();
const members = await memberHelpers();

const give = (workspaceId: string, teamId: string, attributes: object, token?: string) =>
  api.post(
    'team-workspaces',
    attributes,
    { workspace: ref('workspaces', workspaceId), team: ref('teams', teamId) },
    { token },
  );
const giveProject = (projectId: string, teamId: string, attributes: object, token?: string) =>
  api.post('team-projects', attributes, { project: ref('projects', projectId), team: ref('teams', teamId) }, { token });
const newProject = async () =>
  (await api.post('organizations/acme/projects', { name: uniqueName('project') })).body.data.id as string;
const inProject = async (projectId: string) =>
  (await api.post('organizations/acme/workspaces', { name: uniqueName('w') }, { project: ref('projects', projectId) }))
    .body.data.id as string;

describe('access to a workspace', () => {
  it('can be granted, read, listed, changed and removed with immediate effect', async () => {
    const { id } = await api.workspace();
    const { token, team } = await members.withFlags('acme');
    const may = async () => {
      const { status, body } = await api.get(`workspaces/${id}`, { token });
      const all = body.data?.attributes.permissions ?? {};
      return [status, ...['can-read-run', 'can-queue-run', 'can-lock', 'can-update'].map((one) => all[one])];
    };
    expect(await may()).toEqual([404, undefined, undefined, undefined, undefined]);
    const response = await give(id, team.id, { access: 'write', runs: 'apply' });
    expect(response.status).toBe(201);
    expect(response.body.data).toMatchObject({
      id: expect.stringMatching(/^tws-/),
      type: 'team-workspaces',
      attributes: {
        access: 'write',
        runs: 'apply',
        variables: 'write',
        'state-versions': 'write',
        'sentinel-mocks': 'read',
        'workspace-locking': true,
        'run-tasks': false,
        'policy-overrides': false,
      },
      relationships: { team: ref('teams', team.id), workspace: ref('workspaces', id) },
    });
    expect(await may()).toEqual([200, true, true, true, false]);
    const path = `team-workspaces/${response.body.data.id}`;
    expect((await api.get(path)).body.data).toEqual(response.body.data);
    const listed = await api.get(`team-workspaces?filter[workspace][id]=${id}`);
    expect([ids(listed.body.data), listed.body.meta.pagination['total-count']]).toEqual([[response.body.data.id], 1]);
    expect((await api.patch(path, { access: 'read' })).body.data.attributes).toMatchObject({ runs: 'read' });
    expect(await may()).toEqual([200, true, false, false, false]);
    const custom = await api.patch(path, { access: 'custom', 'workspace-locking': true, runs: 'plan' });
    // Attributes missing in the request stay unchanged.
    expect(custom.body.data.attributes).toMatchObject({ runs: 'plan', variables: 'read', 'state-versions': 'read' });
    expect(await may()).toEqual([200, true, true, true, false]);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(await may()).toEqual([404, undefined, undefined, undefined, undefined]);
    expect((await api.get(path)).status).toBe(404);
  });

  it('of level custom grants each part separately', async () => {
    const { id } = await api.workspace();
    const { token, team } = await members.withFlags('acme');
    const response = await give(id, team.id, { access: 'custom', 'state-versions': 'read-outputs' });
    expect(response.body.data.attributes).toMatchObject({
      ...{ runs: 'read', variables: 'none', 'state-versions': 'read-outputs', 'sentinel-mocks': 'none' },
      ...{ 'workspace-locking': false, 'run-tasks': false },
    });
    const status = async (path: string) => (await api.get(path, { token })).status;
    expect(await status(`workspaces/${id}/vars`)).toBe(403);
    expect(await status(`state-versions?filter[organization][name]=acme&filter[workspace][name]=x`)).toBe(404);
    expect(await status(`workspaces/${id}/runs`)).toBe(200);
    expect((await api.post('runs', {}, on(id), { token })).status).toBe(403);
    await api.patch(`team-workspaces/${response.body.data.id}`, { variables: 'read' });
    expect(await status(`workspaces/${id}/vars`)).toBe(200);
    const refused = await give(id, team.id, { access: 'read', runs: 'apply' });
    expect(pointerOf(refused)).toEqual([422, '/data/attributes/runs']);
    const readOnly = "is read-only when access level is 'read'; use the 'custom' access level to set this attribute.";
    expect(refused.body.errors[0].detail).toBe(`Runs ${readOnly}`);
    const states = await give(id, team.id, { access: 'read', 'state-versions': 'write' });
    expect(states.body.errors[0].detail).toBe(`State versions ${readOnly}`);
  });

  it('is listed for one workspace, which must be named', async () => {
    const missing = await api.get('team-workspaces');
    expect([missing.status, missing.body.errors[0].source]).toEqual([400, { parameter: 'filter[workspace][id]' }]);
  });

  it('is granted once per team, and not to the owners team or foreign teams', async () => {
    const { id } = await api.workspace();
    const { team } = await members.withFlags('acme');
    expect((await give(id, team.id, { access: 'read' })).status).toBe(201);
    const owners = (await api.get('organizations/acme/teams?filter[names]=owners')).body.data[0];
    for (const teamId of [team.id, owners.id, 'team-none']) {
      const refused = await give(id, teamId, { access: 'read' });
      expect(pointerOf(refused)).toEqual([422, '/data/relationships/team']);
    }
    expect((await give(id, team.id, { access: 'maintain' })).status).toBe(422);
    const [record] = (await api.get(`team-workspaces?filter[workspace][id]=${id}`)).body.data;
    expect((await api.get(`team-projects/${record.id}`)).status, 'no grant on a project').toBe(404);
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    const many = Object.fromEntries(
      Array.from({ length: 99 }, (_, n) => [`team-${n}`, { id: `tws-${n}`, access: 'read' }]),
    );
    await update(keys.workspace(id), { set: { teamAccess: many } });
    expect((await give(id, team.id, { access: 'read' })).status).toBe(201);
    const another = (await members.withFlags('acme')).team.id;
    const beyond = await give(id, another, { access: 'read' });
    expect(pointerOf(beyond)).toEqual([422, '/data']);
    expect((await give('ws-none', team.id, { access: 'read' })).status).toBe(404);
  });

  it("is managed by workspace admins; others see only their own teams' access", async () => {
    const { id } = await api.workspace();
    const admin = await members.withFlags('acme');
    const reader = await members.withFlags('acme');
    const secret = await members.withFlags('acme');
    await give(id, admin.team.id, { access: 'admin' });
    const mine = await give(id, reader.team.id, { access: 'read' });
    const hidden = await give(id, secret.team.id, { access: 'read' });
    const { id: visible } = (
      await api.post('organizations/acme/teams', { name: uniqueName('a'), visibility: 'organization' })
    ).body.data;
    const input = await give(id, visible, { access: 'plan' }, admin.token);
    expect(input.status).toBe(201);
    expect((await give(id, secret.team.id, { access: 'read' }, admin.token)).status).toBe(422);
    const list = async (token: string) =>
      ids((await api.get(`team-workspaces?filter[workspace][id]=${id}`, { token })).body.data);
    expect(await list(reader.token)).toEqual([mine.body.data.id]);
    expect(await list(admin.token)).toHaveLength(2);
    const all = (await api.get(`team-workspaces?filter[workspace][id]=${id}`)).body.data;
    const teamIds = all.map(
      ({ relationships }: { relationships: { team: { data: { id: string } } } }) => relationships.team.data.id,
    );
    expect(teamIds, 'by name').toEqual([visible, admin.team.id, reader.team.id, secret.team.id]);
    const ofOne = await api.get(`team-workspaces?filter[workspace][id]=${id}&filter[team][id]=${reader.team.id}`);
    expect(ids(ofOne.body.data)).toEqual([mine.body.data.id]);
    const path = `team-workspaces/${input.body.data.id}`;
    const read = async (one: string, token: string) => (await api.get(one, { token })).status;
    expect(await read(path, reader.token)).toBe(404);
    expect(await read(`team-workspaces/${mine.body.data.id}`, reader.token)).toBe(200);
    expect(await read(`team-workspaces/${hidden.body.data.id}`, admin.token)).toBe(404);
    expect((await api.call('DELETE', path, { token: reader.token })).status).toBe(404);
    const own = `team-workspaces/${mine.body.data.id}`;
    expect((await api.call('DELETE', own, { token: reader.token })).status).toBe(403);
    expect((await api.call('DELETE', path, { token: admin.token })).status).toBe(204);
  });

  it('ends with the team and with the workspace', async () => {
    const { id } = await api.workspace();
    const other = await api.workspace();
    const { team } = await members.withFlags('acme');
    const one = (await give(id, team.id, { access: 'read' })).body.data.id;
    const two = (await give(other.id, team.id, { access: 'read' })).body.data.id;
    await api.call('DELETE', `workspaces/${other.id}`);
    expect((await api.get(`team-workspaces/${two}`)).status).toBe(404);
    await api.call('DELETE', `teams/${team.id}`);
    expect((await api.get(`team-workspaces/${one}`)).status).toBe(404);
    expect((await api.get(`team-workspaces?filter[workspace][id]=${id}`)).body.data).toEqual([]);
  });
});

describe('access to a project', () => {
  it('covers the project and its workspaces', async () => {
    const projectId = await newProject();
    const workspaceId = await inProject(projectId);
    const elsewhere = await api.workspace();
    const { token, team } = await members.withFlags('acme');
    // Clients may repeat what the level includes.
    const included = { 'project-access': { settings: 'read' }, 'workspace-access': { create: true, runs: 'apply' } };
    const response = await giveProject(projectId, team.id, { access: 'maintain', ...included });
    expect(response.body.data).toMatchObject({
      id: expect.stringMatching(/^tprj-/),
      attributes: {
        access: 'maintain',
        'project-access': { settings: 'read', teams: 'none' },
        'workspace-access': {
          create: true,
          move: false,
          delete: true,
          locking: true,
          runs: 'apply',
          'run-tasks': true,
        },
      },
    });
    const permissions = async (path: string) => (await api.get(path, { token })).body.data?.attributes.permissions;
    expect(await permissions(`workspaces/${workspaceId}`)).toMatchObject({
      'can-update': true,
      'can-force-unlock': true,
    });
    expect(await permissions(`projects/${projectId}`)).toMatchObject({
      'can-update': false,
      'can-create-workspace': true,
    });
    expect((await api.get(`workspaces/${elsewhere.id}`, { token })).status).toBe(404);
    const create = (project: string) =>
      api.post(
        'organizations/acme/workspaces',
        { name: uniqueName('w') },
        { project: ref('projects', project) },
        { token },
      );
    expect((await create(projectId)).body.data.attributes.permissions['can-update']).toBe(true);
    expect([(await create('prj-none')).status, (await create(await newProject())).status]).toEqual([403, 403]);
    const path = `team-projects/${response.body.data.id}`;
    expect((await api.get(path, { token })).status).toBe(200);
    const changed = await api.patch(path, { access: 'custom', 'workspace-access': { runs: 'plan' } });
    expect(changed.body.data.attributes['workspace-access']).toMatchObject({ runs: 'plan', variables: 'write' });
    expect((await api.get(`workspaces/${workspaceId}/vars`, { token })).status).toBe(200);
    const overrides = async (attributes: object) =>
      (await api.patch(path, attributes)).body.data.attributes['workspace-access']['policy-overrides'];
    expect(await overrides({ 'workspace-access': { 'policy-overrides': true } })).toBe(true);
    expect(await overrides({ access: 'write' })).toBe(true);
    expect(await overrides({ 'workspace-access': { 'policy-overrides': false } })).toBe(false);
    await api.call('DELETE', path);
    expect((await api.get(`projects/${projectId}`, { token })).status).toBe(404);
    expect((await api.get(`workspaces/${workspaceId}`, { token })).status).toBe(404);
  });

  it("cannot exceed the granter's own permissions", async () => {
    const projectId = await newProject();
    const { token, team } = await members.withFlags('acme');
    const visible = { name: uniqueName('v'), visibility: 'organization' };
    const other = (await api.post('organizations/acme/teams', visible)).body.data.id;
    await giveProject(projectId, team.id, { access: 'custom', 'project-access': { teams: 'manage' } });
    expect((await giveProject(projectId, other, { access: 'admin' }, token)).status).toBe(403);
    const response = await giveProject(projectId, other, { access: 'custom' }, token);
    expect(response.status).toBe(201);
    const body = { data: { attributes: { access: 'write' } } };
    expect((await api.call('PATCH', `team-projects/${response.body.data.id}`, { token, body })).status).toBe(403);
  });

  it('lets workspaces move only with permission in both projects', async () => {
    const [from, here, there] = [await newProject(), await newProject(), await newProject()];
    const workspaceId = await inProject(from);
    const { token, team } = await members.withFlags('acme');
    await giveProject(from, team.id, { access: 'admin' });
    await giveProject(here, team.id, { access: 'maintain' });
    const move = async (id: string) => {
      const body = { data: { relationships: { project: ref('projects', id) } } };
      return (await api.call('PATCH', `workspaces/${workspaceId}`, { token, body })).status;
    };
    expect([await move(here), await move(there)]).toEqual([403, 422]);
    const body = { data: [{ type: 'workspaces', id: workspaceId }] };
    expect((await api.call('POST', `projects/${here}/relationships/workspaces`, { token, body })).status).toBe(403);
    await giveProject(there, team.id, { access: 'admin' });
    expect(await move(there)).toBe(200);
    expect((await api.call('POST', `projects/${from}/relationships/workspaces`, { token, body })).status).toBe(204);
  });
});

it('delegated teams and override managers can override policies', async () => {
  const { id } = await api.workspace();
  const permissions = async (token: string) => {
    const run = (await api.get(`workspaces/${id}/runs`, { token })).body.data[0];
    return run?.attributes.permissions['can-override-policy-check'];
  };
  await api.configuration(id);
  await api.post('runs', {}, on(id));
  const manager = await members.withFlags('acme', 'manage-policy-overrides');
  const delegate = await members.withFlags('acme', 'delegate-policy-overrides');
  const other = await members.withFlags('acme');
  for (const { team } of [delegate, other]) await give(id, team.id, { access: 'read', 'policy-overrides': true });
  expect(await Promise.all([manager, delegate, other].map(({ token }) => permissions(token)))).toEqual([
    true,
    true,
    false,
  ]);
});

describe('lists leave out hidden resources and do not count them', () => {
  it('of workspaces, projects, runs and variable sets', async () => {
    const projectId = await newProject();
    const readable = [(await api.workspace()).id, await inProject(projectId)];
    await api.workspace();
    for (const id of readable) await api.configuration(id);
    const runs = await Promise.all(readable.map(async (id) => (await api.post('runs', {}, on(id))).body.data.id));
    const { token, team } = await members.withFlags('acme');
    await give(readable[0] as string, team.id, { access: 'read' });
    await giveProject(projectId, team.id, { access: 'read' });
    const set = async (name: string, relationships: object) =>
      (await api.post('organizations/acme/varsets', { name }, relationships)).body.data.id;
    const applied = await set('applied', { workspaces: { data: [{ type: 'workspaces', id: readable[0] }] } });
    await set('elsewhere', {});
    const of = async (path: string) => {
      const { body } = await api.get(path, { token });
      return [ids(body.data).sort(), body.meta.pagination['total-count']];
    };
    expect(await of('organizations/acme/workspaces')).toEqual([[...readable].sort(), 2]);
    expect(await of('organizations/acme/workspaces?search[name]=w')).toEqual([[...readable].sort(), 2]);
    expect(await of('organizations/acme/projects')).toEqual([[projectId], 1]);
    expect(await of('organizations/acme/varsets')).toEqual([[applied], 1]);
    expect((await of('organizations/acme/runs'))[0]).toEqual([...runs].sort());
    expect((await of('organizations/acme/runs/queue'))[0]).toEqual([...runs].sort());
    const capacity = (await api.get('organizations/acme/capacity', { token })).body.data.attributes;
    expect(capacity.pending + capacity.running).toBe(2);
    const { token: outsider } = await members.member('acme');
    for (const list of ['workspaces', 'projects', 'varsets', 'runs', 'runs/queue']) {
      const { status, body } = await api.get(`organizations/acme/${list}`, { token: outsider });
      expect([list, status, body.data, body.meta.pagination['total-count'] ?? 0]).toEqual([list, 200, [], 0]);
    }
  });

  it('shows only the visible workspaces and projects of a variable set', async () => {
    const [visible, hidden] = [await api.workspace(), await api.workspace()];
    const both = { data: [visible, hidden].map(({ id }) => ({ type: 'workspaces', id })) };
    const set = (await api.post('organizations/acme/varsets', { name: uniqueName('s') }, { workspaces: both })).body
      .data;
    const { token, team } = await members.withFlags('acme');
    await give(visible.id, team.id, { access: 'read' });
    const { data, included } = (await api.get(`varsets/${set.id}?include=workspaces`, { token })).body;
    expect([data.attributes['workspace-count'], ids(data.relationships.workspaces.data), ids(included)]).toEqual([
      1,
      [visible.id],
      [visible.id],
    ]);
    expect(data.attributes.permissions['can-update']).toBe(false);
  });

  it('costs as much for 40 workspaces as for 4', async () => {
    const { token, team } = await members.withFlags('acme');
    const cost = async () => {
      const before = api.aws.calls;
      await api.get('organizations/acme/workspaces?page[size]=100', { token });
      return api.aws.calls - before;
    };
    const more = async (n: number) => {
      for (let i = 0; i < n; i++) await give((await api.workspace()).id, team.id, { access: 'read' });
    };
    await more(4);
    // The first request records the token's use.
    await cost();
    const few = await cost();
    await more(36);
    expect(await cost()).toBe(few);
  });
});

describe('reads for a permission check', () => {
  const cost = async (path: string, token?: string) => {
    const before = api.aws.calls;
    expect((await api.get(path, { token })).status).toBe(200);
    return api.aws.calls - before;
  };

  it('is a membership for owners, and at most two reads more for others', async () => {
    const { id } = await api.workspace();
    await api.configuration(id);
    const run = (await api.post('runs', {}, on(id))).body.data.id;
    const { token, team } = await members.withFlags('acme');
    await give(id, team.id, { access: 'read' });
    const paths = [`workspaces/${id}`, `runs/${run}`, 'organizations/acme'];
    const told = [];
    // The first request records the token's use.
    await cost('organizations/acme', token);
    for (const path of paths) told.push([await cost(path), await cost(path, token)]);
    // The token, the subject and the membership, for a workspace its variables, for a pending run its workspace
    // and queue; then the
    // teams and the project.
    expect(told).toEqual([
      [4, 6],
      [4, 6],
      [3, 4],
    ]);
  });
});

describe('the access of a team', () => {
  const listed = async (team: string, token?: string) => {
    const { status, body } = await api.get(`teams/${team}/access`, { token });
    return status === 200
      ? body.data.map(({ attributes }: { attributes: Record<string, string> }) => [attributes.name, attributes.access])
      : status;
  };

  it('is listed with the names of its projects and workspaces, to members and to those who read it there', async () => {
    const { token, team } = await members.withFlags('acme');
    const other = await members.withFlags('acme');
    const project = await newProject();
    const [first, second] = [await inProject(project), await api.workspace()];
    await giveProject(project, team.id, { access: 'write' });
    await give(first, team.id, { access: 'read' });
    await give(second.id, team.id, { access: 'plan' });
    await give(second.id, other.team.id, { access: 'admin' });
    const nameOf = async (path: string): Promise<string> => (await api.get(path)).body.data.attributes.name;
    const all = [
      [await nameOf(`projects/${project}`), 'write'],
      ...[
        [await nameOf(`workspaces/${first}`), 'read'],
        [await nameOf(`workspaces/${second.id}`), 'plan'],
      ].sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ];
    expect(await listed(team.id)).toEqual(all);
    expect(await listed(team.id, token)).toEqual(all);
    // An administrator of one of the workspaces sees no other one.
    await api.patch(`teams/${team.id}`, { visibility: 'organization' });
    expect(await listed(team.id, other.token)).toEqual([[await nameOf(`workspaces/${second.id}`), 'plan']]);
    await api.patch(`teams/${team.id}`, { visibility: 'secret' });
    expect(await listed(team.id, other.token)).toBe(404);
  });
});
