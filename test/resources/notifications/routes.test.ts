import { beforeEach, describe, expect, it } from 'vitest';
import { ref, startApi, uniqueName } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { signatureOf, startTaskServer, status } from '#test/support/task-server.ts';

/** Notification configurations, with a destination that is really called. */

const api = await startApi();
const server = await startTaskServer();
beforeEach(() => {
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
  server.answer = (_, response) => response.writeHead(200, { 'x-a': 'b', 'set-cookie': 'c=d' }).end('welcome');
  server.requests.length = 0;
});

const values = (change: object = {}) => ({
  name: 'chat',
  'destination-type': 'generic',
  url: server.url,
  triggers: ['run:errored', 'run:created'],
  ...change,
});
const post = async (change: object = {}, workspaceId?: string) =>
  api.post(`workspaces/${workspaceId ?? (await api.workspace()).id}/notification-configurations`, values(change));
const make = async (change: object = {}, workspaceId?: string) => {
  const answer = await post(change, workspaceId);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.data;
};
const one = ({ id }: { id: string }) => `notification-configurations/${id}`;
const refusal = ({
  status: code,
  body,
}: {
  status: number;
  body: { errors: { source: object; detail: string }[] };
}) => [code, body.errors[0]?.source, body.errors[0]?.detail];
const at = (field: string) => ({ pointer: `/data/attributes/${field}` });

it('notification configurations are created, read, listed, changed and deleted', async () => {
  const { id: workspaceId } = await api.workspace();
  const configuration = await make({ token: 'secret' }, workspaceId);
  expect(configuration).toMatchObject({
    type: 'notification-configurations',
    id: expect.stringMatching(/^nc-\w{16}$/),
    attributes: {
      name: 'chat',
      'destination-type': 'generic',
      url: server.url,
      enabled: false,
      token: null,
      triggers: ['run:created', 'run:errored'],
      'delivery-responses': [],
    },
    relationships: { subscribable: { data: { type: 'workspaces', id: workspaceId } } },
  });
  expect(server.requests).toEqual([]);
  const second = await make({ name: 'other' }, workspaceId);
  const listed = await api.get(`workspaces/${workspaceId}/notification-configurations`);
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([configuration.id, second.id]);
  expect(listed.body.meta).toBeUndefined();
  const paged = await api.get(`workspaces/${workspaceId}/notification-configurations?page[size]=1`);
  expect([paged.body.data.length, paged.body.meta.pagination['total-count']]).toEqual([1, 2]);
  const changed = await api.patch(one(configuration), { name: 'new', triggers: [] });
  expect(changed.body.data.attributes).toMatchObject({ name: 'new', triggers: [], url: server.url });
  expect((await api.get(one(configuration))).body.data).toEqual(changed.body.data);
  expect((await api.call('DELETE', one(configuration))).status).toBe(204);
  expect((await api.get(one(configuration))).status).toBe(404);
  expect((await api.get(`workspaces/${workspaceId}/notification-configurations`)).body.data).toHaveLength(1);
  await api.call('DELETE', `workspaces/${workspaceId}`);
  expect((await api.get(one(second))).status).toBe(404);
});

describe('a destination is verified with a request', () => {
  it('when a configuration is created enabled, with a signature of the body', async () => {
    const configuration = await make({ enabled: true, token: 'secret' });
    const [request] = server.requests;
    expect(request?.payload).toMatchObject({
      payload_version: 1,
      notification_configuration_id: configuration.id,
      run_id: null,
      notifications: [{ trigger: 'verification', run_status: null }],
    });
    expect(request?.headers['x-tfe-notification-signature']).toBe(signatureOf(request?.bytes as Buffer, 'secret'));
    expect(configuration.attributes['delivery-responses']).toEqual([
      {
        url: server.url,
        body: 'welcome',
        code: '200',
        headers: expect.objectContaining({ 'x-a': ['b'] }),
        'sent-at': expect.stringMatching(/^2.*Z$/),
        successful: 'true',
      },
    ]);
    expect(JSON.stringify(configuration.attributes)).not.toContain('c=d');
  });

  it('and rejected with its response when that fails', async () => {
    server.answer = status(500);
    const { id } = await api.workspace();
    const [code, source, detail] = refusal(await post({ enabled: true }, id));
    expect([code, source]).toEqual([400, at('url')]);
    expect(detail).toContain('it answered 500');
    expect((await api.get(`workspaces/${id}/notification-configurations`)).body.data).toEqual([]);
  });

  it('when it is enabled or its URL changes, but not when it is renamed', async () => {
    const configuration = await make();
    await api.patch(one(configuration), { name: 'b', triggers: ['run:planning'] });
    expect(server.requests).toHaveLength(0);
    server.answer = status(404);
    expect(refusal(await api.patch(one(configuration), { enabled: true }))[0]).toBe(400);
    expect(refusal(await api.post(`${one(configuration)}/actions/enable`))[0]).toBe(400);
    const { attributes } = (await api.get(one(configuration))).body.data;
    expect(attributes).toMatchObject({ enabled: false });
    expect(attributes['delivery-responses'].map((each: { code: string }) => each.code)).toEqual(['404', '404']);
    server.answer = status(204);
    expect((await api.post(`${one(configuration)}/actions/enable`)).body.data.attributes.enabled).toBe(true);
    expect(server.requests).toHaveLength(3);
    await api.patch(one(configuration), { name: 'c' });
    expect(server.requests).toHaveLength(3);
    await api.patch(one(configuration), { token: 'new' });
    await api.patch(one(configuration), { url: `${server.url}x` });
    expect(server.requests.slice(3).map(({ path }) => path)).toEqual(['/', '/x']);
    for (const { bytes, headers } of server.requests.slice(3))
      expect(headers['x-tfe-notification-signature']).toBe(signatureOf(bytes, 'new'));
    const reset = await api.patch(one(configuration), { enabled: null, triggers: null, token: null });
    expect(reset.body.data.attributes).toMatchObject({ enabled: false, triggers: [] });
    expect((await api.patch(one(configuration), { enabled: true })).body.data.attributes.enabled).toBe(true);
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('x-tfe-notification-signature');
  });

  it('at any time, keeping the last five responses', async () => {
    const configuration = await make({ token: '' });
    for (let code = 200; code < 206; code++) {
      server.answer = status(code);
      expect((await api.post(`${one(configuration)}/actions/verify`)).status).toBe(200);
    }
    expect(server.requests[0]?.headers).not.toHaveProperty('x-tfe-notification-signature');
    const { attributes } = (await api.get(one(configuration))).body.data;
    const codes = attributes['delivery-responses'].map((each: { code: string }) => each.code);
    expect(codes).toEqual(['205', '204', '203', '202', '201']);
  });

  it('and never at a private address', async () => {
    process.env.OUTBOUND_ALLOWED_CIDRS = '';
    const [code, source, detail] = refusal(await post({ enabled: true }));
    expect([code, source]).toEqual([400, at('url')]);
    expect(detail).toContain('outboundAllowedCidrs');
    expect(server.requests).toEqual([]);
  });
});

describe('invalid input is rejected, with the field and the remedy', () => {
  it.each<[object, string, string]>([
    [{ 'destination-type': 'email' }, 'destination-type', 'sends no e-mail'],
    [{ 'destination-type': 'pager' }, 'destination-type', 'must be one of generic, slack, microsoft-teams'],
    [{ 'email-addresses': ['a@b.test'] }, 'email-addresses', 'sends no e-mail'],
    [{ triggers: ['team:change_request'] }, 'triggers', 'team:change_request is not one of run:created'],
    [{ triggers: 'run:created' }, 'triggers', 'must be a list'],
    [{ triggers: ['run:applied'] }, 'triggers', 'run:applied is not one of run:created'],
    [{ url: 'ftp://a.test' }, 'url', 'only http and https'],
    [{ url: undefined }, 'url', 'is missing'],
    [{ name: ' ' }, 'name', 'is empty'],
    [{ 'destination-type': 'slack', token: 'secret' }, 'token', 'Remove it'],
    [{ url: null }, 'url', 'is missing'],
  ])('%j', async (change, field, remedy) => {
    const [code, source, detail] = refusal(await post(change));
    expect([code, source]).toEqual([422, at(field)]);
    expect(detail).toContain(remedy);
  });

  it('for recipients of a destination with a URL', async () => {
    const { id } = await api.workspace();
    const users = { users: { data: [{ type: 'users', id: api.userId }] } };
    const refused = await api.post(`workspaces/${id}/notification-configurations`, values(), users);
    expect(refusal(refused).slice(0, 2)).toEqual([422, { pointer: '/data/relationships/users' }]);
  });

  it('for a changed type, and for more than twenty', async () => {
    const { id } = await api.workspace();
    const configuration = await make({}, id);
    const slack = await make({ 'destination-type': 'slack' }, id);
    expect(refusal(await api.patch(one(slack), { token: 'secret' })).slice(0, 2)).toEqual([422, at('token')]);
    expect(refusal(await api.patch(one(configuration), { url: null })).slice(0, 2)).toEqual([422, at('url')]);
    const kept = (await api.patch(one(slack), { enabled: false })).body.data.attributes;
    expect(kept).toMatchObject({ name: 'chat', url: server.url, triggers: ['run:created', 'run:errored'] });
    await api.call('DELETE', one(slack));
    expect(refusal(await api.patch(one(configuration), { 'destination-type': 'slack' }))[1]).toEqual(
      at('destination-type'),
    );
    expect((await api.patch(one(configuration), { 'destination-type': 'generic' })).status).toBe(200);
    const made = [configuration.id];
    for (let n = 1; n < 19; n++) made.push((await make({}, id)).id);
    const last = await Promise.all([post({}, id), post({}, id)]);
    expect(last.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(refusal(await post({ enabled: true }, id))[2]).toContain('has 20 notification configurations');
    expect(server.requests, 'no verification').toEqual([]);
    const { createNotification } = await import('#resources/notifications/records.ts');
    const settings = { name: 'n', destinationType: 'slack', url: null, enabled: false, triggers: [] } as const;
    const beyond = () =>
      createNotification({ organization: 'acme', workspaceId: id }, 'nc-beyond', { ...settings, triggers: [] });
    expect(await beyond(), 'a concurrent request').toBe('full');
    const listed = (await api.get(`workspaces/${id}/notification-configurations`)).body.data;
    expect(listed.slice(0, -1).map(({ id }: { id: string }) => id)).toEqual(made);
  });
});

it.each<[string, 'workspaceId' | 'projectId' | 'teamId']>([
  ['workspaces', 'workspaceId'],
  ['projects', 'projectId'],
  ['teams', 'teamId'],
])('a token of %s is sealed, for its own configuration only', async (owners, owner) => {
  const { getNotification, openToken } = await import('#resources/notifications/records.ts');
  const { id: ownerId } = (await api.post(`organizations/acme/${owners}`, { name: uniqueName('sealed') })).body.data;
  const path = `${owners}/${ownerId}/notification-configurations`;
  const { id } = (await api.post(path, values({ token: 'very secret', triggers: [] }))).body.data;
  const stored = await getNotification(id);
  if (!stored) throw new Error('it is gone');
  expect(stored[owner]).toBe(ownerId);
  expect(Buffer.from(stored.sealedToken ?? []).toString('latin1')).not.toContain('very secret');
  expect(await openToken(stored)).toBe('very secret');
  for (const other of [{ id: 'nc-other' }, { [owner]: 'other' }])
    await expect(openToken({ ...stored, ...other })).rejects.toThrow();
});

it('a deleted owner gets no configuration, and a deleted configuration no response', async () => {
  const { createNotification, keepResponse } = await import('#resources/notifications/records.ts');
  const settings = { name: 'n', destinationType: 'generic', url: null, enabled: false, triggers: [] } as const;
  const place = { organization: 'acme', workspaceId: 'ws-none' };
  expect(await createNotification(place, 'nc-none', { ...settings, triggers: [] })).toBeUndefined();
  const response = { url: '', body: '', code: '200', headers: {}, sentAt: '', successful: true };
  expect(await keepResponse('nc-none', response)).toBeUndefined();
});

it('new and open runs record whether they have notifications', async () => {
  const { ready, create, store } = await runHelpers(api);
  const { id } = await ready();
  const notifies = async (run: { id: string }) => (await store.getRun(run.id))?.notifies;
  const before = await create(id);
  expect(await notifies(before)).toBeUndefined();
  const configuration = await make({}, id);
  expect(await notifies(before)).toBe(true);
  expect(await notifies(await create(id))).toBe(true);
  await api.call('DELETE', one(configuration));
  expect(await notifies(await create(id))).toBeUndefined();
});

describe('permissions', () => {
  const configured = async (path: string, triggers: string[] = []) =>
    (await api.post(`${path}/notification-configurations`, values({ triggers }))).body.data.id as string;
  const statusFor = async (token: string, method: string, path: string) =>
    (await api.call(method, path, { headers: { authorization: `Bearer ${token}` } })).status;

  it('managing configurations needs permission on the project or the team, regardless of permissions on workspaces', async () => {
    const { memberHelpers } = await import('#test/support/members.ts');
    const { withFlags } = await memberHelpers();
    const project = (await api.post('organizations/acme/projects', { name: 'told' })).body.data.id;
    const ofProject = await configured(`projects/${project}`);
    const secret = (await api.post('organizations/acme/teams', { name: 'told', visibility: 'secret' })).body.data.id;
    const ofTeam = await configured(`teams/${secret}`, ['change_request:created']);
    const person = async (access: string | undefined, flags: 'manage-teams'[] = []) => {
      const { token, team } = await withFlags('acme', ...flags);
      const relations = { team: ref('teams', team.id), project: ref('projects', project) };
      if (access) await api.post('team-projects', { access }, relations);
      return token;
    };
    const [admin, maintainer, teams] = [
      await person('admin'),
      await person('maintain'),
      await person(undefined, ['manage-teams']),
    ];
    const seen = async (token: string) => [
      await statusFor(token, 'GET', one({ id: ofProject })),
      await statusFor(token, 'POST', `${one({ id: ofProject })}/actions/verify`),
      await statusFor(token, 'GET', `projects/${project}/notification-configurations`),
      await statusFor(token, 'GET', one({ id: ofTeam })),
    ];
    expect(await seen(admin)).toEqual([200, 200, 200, 404]);
    expect(await seen(maintainer)).toEqual([403, 403, 403, 404]);
    expect((await seen(teams)).slice(0, 3)).toEqual([404, 404, 404]);
    expect(await statusFor(api.token, 'GET', one({ id: ofTeam }))).toBe(200);
  });
});
