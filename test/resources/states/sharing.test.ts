import { describe, expect, it } from 'vitest';
import { pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { ids, runHelpers } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';

/** State shared with runs of other workspaces, and the token with which Terraform reads it. */

const api = await startApi();
const help = await runHelpers(api);
const { claimPhase } = await import('#lifecycle/phases/phases.ts');
const { hashSecret, newSecret } = await import('#platform/store/id.ts');
const { stateTokenOf } = await import('#resources/runs/state-tokens.ts');
const tokenOf: (workspaceId: string) => Promise<{ run: string; token: string; runnerToken: string }> = async (
  workspaceId,
) => {
  await api.configuration(workspaceId);
  const { id } = await help.create(workspaceId);
  const secret = newSecret();
  await help.bring(id, { status: 'plan_queued', 'plan.claimHash': hashSecret(secret) });
  const claimed = await claimPhase(`${id}.plan.${secret}`, 'nonce');
  if (!claimed) throw new Error('not claimed');
  return { run: id, token: stateTokenOf(id, 'plan', claimed.token), runnerToken: claimed.token };
};

const push = async (workspaceId: string, serial: number, value: string) => {
  await api.call('POST', `workspaces/${workspaceId}/actions/lock`);
  const { text, ...attributes } = stateFile({
    serial,
    outputs: {
      plain: { value, type: 'string' },
      secret: { value: `hidden ${value}`, type: 'string', sensitive: true },
    },
  });
  const state = Buffer.from(text).toString('base64');
  const response = await api.post(`workspaces/${workspaceId}/state-versions`, { ...attributes, state });
  expect(response.status).toBe(201);
  await api.call('POST', `workspaces/${workspaceId}/actions/unlock`);
  return response.body.data;
};

const share = (from: string, method: string, ...to: string[]) =>
  api.call(method, `workspaces/${from}/relationships/remote-state-consumers`, {
    body: { data: to.map((id) => ({ type: 'workspaces', id })) },
  });

/** Terraform's requests to read outputs of a workspace's state. */
const asks = (workspace: { id: string; attributes: { name: string } }, version: string, output: string) => [
  `organizations/acme/workspaces/${workspace.attributes.name}`,
  `workspaces/${workspace.id}`,
  `workspaces/${workspace.id}/current-state-version`,
  `workspaces/${workspace.id}/current-state-version-outputs`,
  `state-versions/${version}`,
  `state-versions/${version}/download`,
  `state-versions/${version}/outputs`,
  `state-version-outputs/${output}`,
];

const statuses = async (paths: string[], token: string) => {
  const answers = await Promise.all(paths.map(async (path) => (await api.get(path, { token })).status));
  return [...new Set(answers.map((status) => Math.floor(status / 100)))];
};

describe('a run', () => {
  it('reads the state of a workspace while its own is a listed consumer', async () => {
    const [source, reader] = [await api.workspace(), await api.workspace()];
    const version = await push(source.id, 1, 'x');
    const { token } = await tokenOf(reader.id);
    const paths = asks(source, version.id, version.relationships.outputs.data[1].id);
    expect(await statuses(paths, token)).toEqual([4]);
    expect((await share(source.id, 'POST', reader.id)).status).toBe(204);
    expect((await statuses(paths, token)).sort()).toEqual([2, 3]);
    const secret = await api.get(paths.at(-1) as string, { token });
    expect(secret.body.data.attributes.value).toBe('hidden x');
    // A run's reads are not limited.
    expect(secret.headers).not.toHaveProperty('x-ratelimit-limit');
    expect((await api.get('organizations/acme/entitlement-set', { token })).status).toBe(200);
    expect((await share(source.id, 'DELETE', reader.id)).status).toBe(204);
    expect(await statuses(paths, token)).toEqual([4]);
  });

  it('reads its own, globally shared and project-shared state', async () => {
    const [own, other] = [await api.workspace(), await api.workspace()];
    for (const { id } of [own, other]) await push(id, 1, 'x');
    const { token } = await tokenOf(own.id);
    const read = async (id: string) => (await api.get(`workspaces/${id}/current-state-version`, { token })).status;
    expect([await read(own.id), await read(other.id)]).toEqual([200, 404]);
    await api.patch(`workspaces/${other.id}`, { 'global-remote-state': true });
    expect(await read(other.id)).toBe(200);
    await api.patch(`workspaces/${other.id}`, { 'global-remote-state': false, 'project-remote-state': true });
    expect(await read(other.id)).toBe(200);
    const project = (await api.post('organizations/acme/projects', { name: 'Elsewhere' })).body.data.id;
    await api.patch(`workspaces/${other.id}`, {}, { project: { data: { type: 'projects', id: project } } });
    expect(await read(other.id)).toBe(404);
  });

  it('reads only the current state version', async () => {
    const workspace = await api.workspace({ 'global-remote-state': true });
    const [old, current] = [await push(workspace.id, 1, 'old'), await push(workspace.id, 2, 'new')];
    const { token } = await tokenOf((await api.workspace()).id);
    expect((await api.get(`state-versions/${current.id}/download`, { token })).status).toBe(302);
    for (const path of ['', '/download', '/outputs']) {
      expect((await api.get(`state-versions/${old.id}${path}`, { token })).status).toBe(404);
    }
    const output = old.relationships.outputs.data[0].id;
    expect((await api.get(`state-version-outputs/${output}`, { token })).status).toBe(404);
  });

  it('cannot use any other route', async () => {
    const { routes } = await import('#public-api/all-routes.ts');
    const workspace = await api.workspace({ 'global-remote-state': true });
    const version = await push(workspace.id, 1, 'x');
    const { run, token } = await tokenOf(workspace.id);
    const fill: Record<string, string> = {
      organization: 'acme',
      name: workspace.attributes.name,
      workspace: workspace.id,
      run,
      plan: run.replace('run-', 'plan-'),
      apply: run.replace('run-', 'apply-'),
      version: version.id,
      output: version.relationships.outputs.data[0].id,
      user: api.userId,
    };
    const body = { data: { relationships: { workspace: { data: { type: 'workspaces', id: workspace.id } } } } };
    const named = `?filter[organization][name]=acme&filter[workspace][name]=${workspace.attributes.name}&workspace_id=${workspace.id}`;
    const allowed: string[] = [];
    for (const { method, path, access } of routes) {
      if (access === 'anyone') continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => fill[name] ?? 'x');
      const query = /\/(runs|state-versions|audit-trail)$/.test(path) ? named : '';
      const { status } = await api.call(method, filled + query, { token, body });
      if (status < 400) allowed.push(`${method} ${path.replace('/api/v2', '')}`);
      else expect([method, path, status]).toEqual([method, path, 404]);
    }
    expect(allowed.sort()).toEqual([
      'GET /organizations/{organization}/entitlement-set',
      'GET /organizations/{organization}/workspaces/{name}',
      'GET /state-version-outputs/{output}',
      'GET /state-versions/{version}',
      'GET /state-versions/{version}/download',
      'GET /state-versions/{version}/outputs',
      'GET /workspaces/{workspace}',
      'GET /workspaces/{workspace}/current-state-version',
      'GET /workspaces/{workspace}/current-state-version-outputs',
    ]);
    const shown = await api.get(`workspaces/${workspace.id}?include=organization,project,current_run`, { token });
    expect(shown.body.included).toEqual([]);
    expect(shown.body.data.attributes.permissions).toMatchObject({ 'can-update': false, 'can-queue-run': false });
  });
});

describe('the token of a run', () => {
  const read = async (token: string, id: string) => (await api.get(`workspaces/${id}`, { token })).status;

  it('is rejected after its phase or run has ended', async () => {
    const { id } = await api.workspace();
    const one = await tokenOf(id);
    expect(await read(one.token, id)).toBe(200);
    await help.bring(one.run, { 'plan.report': { outcome: 'finished' } });
    expect(await read(one.token, id)).toBe(401);
    const two = await tokenOf(id);
    const { finishRun } = await import('#lifecycle/phases/finish.ts');
    await finishRun(two.run, 'Canceled');
    expect(await read(two.token, id)).toBe(401);
  });

  it("differs from the runner's token and is bound to run and phase", async () => {
    const { id } = await api.workspace();
    const [one, two] = [await tokenOf(id), await tokenOf(id)];
    const [head, secret] = [one.token.slice(0, -43), one.token.slice(-43)];
    const bad = [
      one.runnerToken,
      one.token.replace('.plan.', '.apply.'),
      `${two.token.slice(0, -43)}${secret}`,
      `${head}${'A'.repeat(43)}`,
      one.token.slice(0, -1),
      'sfr_',
    ];
    for (const token of bad) expect(await read(token, id)).toBe(401);
    const { handler } = await import('#runner/api/handler.ts');
    const { eventOf } = await import('#test/support/api.ts');
    process.env.HEARTBEAT_SECONDS = '5';
    const asRunner = await handler(eventOf('POST', '/runner/v1/heartbeat', { token: one.token }));
    expect(asRunner.statusCode).toBe(401);
  });

  it('is stored only as a hash', async () => {
    const { run, token } = await tokenOf((await api.workspace()).id);
    expect(JSON.stringify(await help.store.getRun(run))).not.toContain(token.slice(-43));
  });
});

it('a state is never shared with runs of another organization', async () => {
  const { sharesState } = await import('#resources/states/sharing.ts');
  const settings = { globalRemoteState: true, projectRemoteState: true, projectId: 'prj-1' };
  const shares = (organization: string) =>
    sharesState({ id: 'ws-1', organization: 'acme', ...settings }, { organization, workspaceId: 'ws-2' });
  expect([await shares('acme'), await shares('other')]).toEqual([true, false]);
});

describe('remote state consumers', () => {
  it('are added, listed, replaced and removed', async () => {
    const [source, a, b] = [await api.workspace(), await api.workspace(), await api.workspace()];
    const path = `workspaces/${source.id}/relationships/remote-state-consumers`;
    const listed = async (query = '') => ids((await api.get(`${path}${query}`)).body.data).sort();
    await share(source.id, 'POST', a.id);
    await share(source.id, 'POST', a.id, b.id);
    expect(await listed()).toEqual([a.id, b.id].sort());
    expect((await api.get(`${path}?page[size]=1`)).body.meta.pagination['total-count']).toBe(2);
    await share(source.id, 'PATCH', b.id);
    expect(await listed()).toEqual([b.id]);
    await share(source.id, 'DELETE', a.id, b.id);
    expect(await listed()).toEqual([]);
    await api.patch(`workspaces/${source.id}`, { 'global-remote-state': true });
    const everyone = await api.get(`${path}?page[size]=100`);
    const all = (await api.get('organizations/acme/workspaces?page[size]=100')).body.data;
    expect(ids(everyone.body.data)).toEqual(ids(all).filter((id: string) => id !== source.id));
    expect(await listed('?show_only_configured=true')).toEqual([]);
  });

  it('that the caller may not see are neither listed, added nor removed', async () => {
    const [source, seen, hidden] = [await api.workspace(), await api.workspace(), await api.workspace()];
    const { memberHelpers } = await import('#test/support/members.ts');
    const { token, team } = await (await memberHelpers()).withFlags('acme');
    const on = (id: string) => ({
      workspace: { data: { type: 'workspaces', id } },
      team: { data: { type: 'teams', id: team.id } },
    });
    await api.post('team-workspaces', { access: 'admin' }, on(source.id));
    await api.post('team-workspaces', { access: 'read' }, on(seen.id));
    await share(source.id, 'POST', seen.id, hidden.id);
    const path = `workspaces/${source.id}/relationships/remote-state-consumers`;
    expect(ids((await api.get(path, { token })).body.data)).toEqual([seen.id]);
    const body = (...named: string[]) => ({ token, body: { data: named.map((id) => ({ type: 'workspaces', id })) } });
    expect((await api.call('POST', path, body(hidden.id))).status).toBe(422);
    expect((await api.call('PATCH', path, body())).status).toBe(204);
    expect(ids((await api.get(path)).body.data)).toEqual([hidden.id]);
  });

  it('may exceed a page in one request', async () => {
    const { createWorkspace, defaultSettings } = await import('#resources/workspaces/records.ts');
    const source = await api.workspace();
    const home = { organization: 'acme', projectId: source.relationships.project.data.id, tags: [] };
    const names = Array.from({ length: 120 }, (_, n) => `consumer-${n}`);
    const made = await Promise.all(names.map((name) => createWorkspace({ ...defaultSettings, ...home, name })));
    const consumers = made.map((one) => one?.id ?? '').sort();
    expect((await share(source.id, 'PATCH', ...consumers)).status).toBe(204);
    const path = `workspaces/${source.id}/relationships/remote-state-consumers`;
    const pages = await Promise.all(['1', '2'].map((n) => api.get(`${path}?page[size]=100&page[number]=${n}`)));
    expect(ids(pages.flatMap(({ body }) => body.data)).sort()).toEqual(consumers);
  });

  it('must be in the same organization', async () => {
    const source = await api.workspace();
    const organization = uniqueName('elsewhere');
    await api.post('organizations', { name: organization, email: 'a@b.test' });
    const foreign = (await api.post(`organizations/${organization}/workspaces`, { name: 'w' })).body.data.id;
    for (const [index, named] of [
      [1, [source.id, 'ws-unknown']],
      [0, [foreign, source.id]],
    ] as const) {
      const unknown = await share(source.id, 'POST', ...named);
      expect(pointerOf(unknown)).toEqual([422, `/data/${index}/id`]);
    }
    expect((await share(source.id, 'POST', ...Array.from({ length: 501 }, (_, n) => `ws-${n}`))).status).toBe(422);
  });
});
