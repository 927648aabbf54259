import { describe, expect, it, vi } from 'vitest';
import { ref } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** An environment's workspace in the public API of runs (functions/resources/workspaces/managed.ts). */

const world = await startEnvironments();
const id = await world.running(await world.addTemplate());
const { workspaceId } = await world.environmentOf(id);

const data = (attributes: object, relationships: object = {}) => ({ data: { attributes, relationships } });

it('an environment is not in the explorer', async () => {
  const own = await world.api.workspace();
  const { status, body } = await world.api.get('organizations/acme/explorer?type=workspaces&page[size]=100');
  expect(status).toBe(200);
  const names = body.data.map(({ attributes }: { attributes: Record<string, string> }) => attributes['workspace-name']);
  expect(names).toEqual([own.attributes.name]);
});

it('the runs of environments are left out of the organization’s list unless requested', async () => {
  const build = await world.runOf(await world.latest(id));
  const list = async (query = '') => (await world.api.get(`organizations/acme/runs${query}`)).body.data;
  const idsOf = (runs: { id: string }[]) => runs.map((run) => run.id);
  expect(idsOf(await list())).not.toContain(build.id);
  expect(idsOf(await list('?filter[status_group]=final'))).not.toContain(build.id);
  expect(idsOf(await list('?filter[managed]=true'))).toContain(build.id);
  expect(idsOf((await world.api.get(`workspaces/${workspaceId}/runs`)).body.data)).toContain(build.id);
});

it('the workspaces of environments are left out of lists on request, also from the total', async () => {
  const own = await world.api.workspace();
  const list = async (query: string, token?: string) => {
    const { status, body } = await world.api.get(`organizations/acme/workspaces?page[size]=100${query}`, { token });
    expect(status).toBe(200);
    const ids: string[] = body.data.map((one: { id: string }) => one.id);
    expect(body.meta.pagination['total-count']).toBe(ids.length);
    return ids;
  };
  const has = (ids: string[]) => [ids.includes(own.id), ids.includes(workspaceId)];
  const project = `&filter[project][id]=${own.relationships.project.data.id}`;
  const { token } = await world.members.withLevel('acme', 'write');
  for (const query of ['', project, '&sort=latest-change-at', '&search[name]=-']) {
    expect(has(await list(query)), query).toEqual([true, true]);
    expect(has(await list(`${query}&filter[managed]=false`)), query).toEqual([true, false]);
    expect(has(await list(`${query}&filter[managed]=true`)), query).toEqual([false, true]);
  }
  expect(has(await list('&filter[managed]=false', token))).toEqual([true, false]);
  expect((await world.api.get('organizations/acme/workspaces?filter[managed]=no')).status).toBe(400);
  // Also after a change of its tags, which writes the index again.
  await world.api.post(`workspaces/${workspaceId}/relationships/tags`, [{ type: 'tags', attributes: { name: 'x' } }]);
  expect(has(await list('&filter[managed]=false'))).toEqual([true, false]);
});

describe('an owner of the organization', () => {
  it.each([
    ['its execution mode', 'PATCH', '', data({ 'execution-mode': 'local' }), 'can be changed'],
    ['its automatic apply', 'PATCH', '', data({ 'auto-apply': false }), 'can be changed'],
    ['its name', 'PATCH', '', data({ name: 'mine' }), 'can be changed'],
    ['its working directory', 'PATCH', '', data({ 'working-directory': 'x' }), 'can be changed'],
    ['its workspace, by deleting it', 'DELETE', '', undefined, 'coder delete'],
    ['its workspace, by deleting it safely', 'POST', '/actions/safe-delete', {}, 'coder delete'],
    ['its configuration', 'POST', '/configuration-versions', data({}), 'coder templates push'],
    ['its state, by rolling back', 'PATCH', '/state-versions', data({}), 'coder state push'],
    ['its triggers', 'POST', '/run-triggers', data({}), 'schedules'],
    ['its identity variables', 'POST', '/vars', data({ key: 'CODER_X', category: 'env' }), 'begin with CODER_'],
  ])('cannot change %s', async (_, method, path, body, remedy) => {
    const answer = await world.api.call(method, `workspaces/${workspaceId}${path}`, { body });
    expect(answer).toMatchObject({ status: 409, body: { errors: [{ detail: expect.stringContaining(remedy) }] } });
    expect(answer.body.errors[0].detail).toContain('belongs to environment owner/');
  });

  it('cannot write its state, start a run in it or move it', async () => {
    await world.api.call('POST', `workspaces/${workspaceId}/actions/lock`);
    const { text: _, ...state } = (await import('#test/support/state.ts')).stateFile({ serial: 9 });
    const written = await world.api.post(`workspaces/${workspaceId}/state-versions`, { ...state, state: 'e30=' });
    await world.api.call('POST', `workspaces/${workspaceId}/actions/unlock`);
    const run = await world.api.post('runs', {}, { workspace: ref('workspaces', workspaceId) });
    const project = (await world.api.post('organizations/acme/projects', { name: 'elsewhere' })).body.data.id;
    const moved = await world.api.call('POST', `projects/${project}/relationships/workspaces`, {
      body: { data: [{ type: 'workspaces', id: workspaceId }] },
    });
    expect([written.status, run.status, moved.status]).toEqual([409, 409, 409]);
  });

  it('sees its runs, but cancels, confirms and discards builds by their own API only', async () => {
    const run = await world.runOf(await world.latest(id));
    expect((await world.api.get(`runs/${run.id}`)).status).toBe(200);
    const { attributes } = (await world.api.get(`configuration-versions/${run.configurationVersionId}`)).body.data;
    expect(attributes).toMatchObject({ 'auto-queue-runs': false, speculative: true, provisional: false });
    for (const action of ['cancel', 'apply', 'discard', 'force-execute']) {
      expect((await world.api.call('POST', `runs/${run.id}/actions/${action}`)).status, action).toBe(409);
    }
  });

  it('may change its description and Terraform version, and lock it: builds wait then', async () => {
    const changed = await world.api.patch(`workspaces/${workspaceId}`, {
      description: 'd',
      'terraform-version': '1.9.0',
    });
    expect([changed.status, changed.body.data.attributes]).toEqual([
      200,
      expect.objectContaining({
        name: expect.stringMatching(/^owner-dev-\d+-[0-9a-f]{8}$/),
        'auto-apply': true,
        'speculative-enabled': false,
      }),
    ]);
    await world.api.call('POST', `workspaces/${workspaceId}/actions/lock`, { body: { reason: 'looking' } });
    expect(await world.build(id, 'stop')).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('locked by a user (looking). Unlock it first.') },
    });
    await world.api.call('POST', `workspaces/${workspaceId}/actions/unlock`);
  });
});

describe('a user in a team of the project', () => {
  it('with read or plan does not see it', async () => {
    for (const level of ['read', 'plan'] as const) {
      const { token } = await world.members.withLevel('acme', level);
      const run = await world.runOf(await world.latest(id));
      expect((await world.api.get(`workspaces/${workspaceId}`, { token })).status).toBe(404);
      expect((await world.api.get(`runs/${run.id}`, { token })).status).toBe(404);
      expect((await world.call('GET', `/workspaces/${id}`, { token })).status).toBe(404);
    }
  });

  it('does not see it with the organization’s token, or with a team that reads all workspaces', async () => {
    const reader = await world.members.withFlags('acme', 'read-workspaces');
    const ofOrganization = await world.api.post('organizations/acme/authentication-token', {});
    const run = await world.runOf(await world.latest(id));
    for (const token of [ofOrganization.body.data.attributes.token, reader.token]) {
      const get = (path: string) => world.api.get(path, { token });
      const state = await get(`workspaces/${workspaceId}/current-state-version`);
      const statuses = [
        (await get(`workspaces/${workspaceId}`)).status,
        (await get(`runs/${run.id}`)).status,
        state.status,
      ];
      expect(statuses).toEqual([404, 404, 404]);
      for (const list of ['workspaces', 'runs']) {
        const { status, body } = await get(`organizations/acme/${list}`);
        expect([status, JSON.stringify(body).includes(workspaceId)], list).toEqual([200, false]);
      }
    }
    expect(JSON.stringify((await world.api.get('organizations/acme/workspaces')).body)).toContain(workspaceId);
  });

  it('with write sees it, but not its state', async () => {
    const { token } = await world.members.withLevel('acme', 'write');
    expect((await world.api.get(`workspaces/${workspaceId}`, { token })).status).toBe(200);
    const state = await world.api.get(`workspaces/${workspaceId}/current-state-version`, { token });
    expect(state.status).toBe(403);
  });
});

it('an owner who lost the permission to plan runs can stop and delete an environment, but not start it', async () => {
  const { joinTeam, leaveTeam } = await import('#resources/users/memberships.ts');
  const [owner, reader] = [
    await world.members.withLevel('acme', 'plan'),
    await world.members.withLevel('acme', 'read'),
  ];
  const own = await world.running(await world.addTemplate(), {}, { token: owner.token });
  await joinTeam(reader.team, owner.id);
  await leaveTeam(owner.team, owner.id);
  const build = (transition: string) => world.build(own, transition, { token: owner.token });
  expect(await build('start')).toMatchObject({
    status: 403,
    body: { message: 'Starting this workspace takes the permission to plan runs in its project.' },
  });
  for (const transition of ['stop', 'delete']) {
    expect((await build(transition)).status).toBe(201);
    await world.end(own);
  }
});

describe('variables', () => {
  it('of sets that begin with CODER_ are ignored in builds', async () => {
    const set = (
      await world.api.post('organizations/acme/varsets', { name: 'everywhere', global: true, priority: true })
    ).body.data.id;
    const prebuild = ['CODER_WORKSPACE_IS_PREBUILD', 'CODER_WORKSPACE_IS_PREBUILD_CLAIM'];
    for (const key of ['CODER_WORKSPACE_OWNER', ...prebuild, 'PLAIN']) {
      const attributes = { key, value: 'forged', category: 'env' };
      await world.api.post(`varsets/${set}/relationships/vars`, attributes);
    }
    await world.build(id, 'stop');
    const inputs = await world.inputsOf(id);
    expect(inputs).toMatchObject({ CODER_WORKSPACE_OWNER: 'owner', PLAIN: 'forged' });
    for (const key of prebuild) expect(inputs).not.toHaveProperty(key);
    await world.end(id);
  });
});

describe('a stranger', () => {
  it('cannot follow a log with a used or expired ticket', async () => {
    const { issueTicket, redeemTicket } = await import('#environments/logs/tickets.ts');
    const ticket = await issueTicket({ kind: 'build', jobId: id, after: 0 });
    const redeemed = await Promise.all([redeemTicket(ticket), redeemTicket(ticket), redeemTicket(ticket)]);
    expect(redeemed.filter(Boolean)).toHaveLength(1);
    expect(await redeemTicket(ticket)).toBeUndefined();
    const expired = await issueTicket({ kind: 'build', jobId: id, after: 0 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    expect(await redeemTicket(expired)).toBeUndefined();
    vi.useRealTimers();
  });
});
