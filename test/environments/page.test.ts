import type { Context } from 'aws-lambda';
import { expect, it } from 'vitest';
import { eventOf } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** The environments' API on the web page's own origin. */

const world = await startEnvironments();
const { handler } = await import('#environments/handler.ts');

const onPage = async (path: string, change: object, token?: string) => {
  const event = eventOf('GET', `/environments/api/v2${path}`, token === undefined ? { token: '' } : { token });
  const answer = (await handler({ ...event, ...change }, {} as Context)) as { statusCode: number; body?: string };
  return { status: answer.statusCode, body: JSON.parse(answer.body ?? '{}') };
};

it('the API accepts tokens only in the Authorization header', async () => {
  const { token } = world.api;
  expect(await onPage('/users/me', {}, token)).toMatchObject({ status: 200, body: { username: 'owner' } });
  const bare = eventOf('GET', '/environments/api/v2/users/me', { token: '' });
  const { authorization: _, ...headers } = bare.headers;
  expect((await onPage('/users/me', { headers, cookies: [`coder_session_token=${token}`] })).status).toBe(401);
  expect((await onPage('/users/me', { headers, rawQueryString: `coder_session_token=${token}` })).status).toBe(401);
  expect((await onPage('/users/me', { headers: { ...headers, 'coder-session-token': token } })).status).toBe(401);
});

it('the API of its own host accepts tokens wherever clients of Coder send them, and a trailing slash', async () => {
  const { token } = world.api;
  const ask = async (change: object, path = '/api/v2/users/me') => {
    const event = eventOf('GET', path, { token: '' });
    return (await handler({ ...event, ...change }, {} as Context)) as { statusCode: number; body?: string };
  };
  const headers = eventOf('GET', '/', {}).headers;
  for (const change of [
    { cookies: ['other=x', `coder_session_token=${encodeURIComponent(token)}`] },
    { rawQueryString: `coder_session_token=${token}` },
    { rawQueryString: `access_token=${token}` },
    { headers: { ...headers, 'coder-session-token': token } },
    { headers: { ...headers, authorization: `bearer ${token}` } },
  ])
    expect((await ask(change)).statusCode, JSON.stringify(change)).toBe(200);
  expect((await ask({})).statusCode).toBe(401);
  const { statusCode, body } = await ask({}, '/cli-auth');
  expect([statusCode, body]).toEqual([
    200,
    expect.stringContaining('coder login https://environments.example.test --'),
  ]);
  const info = await ask({}, '/api/v2/buildinfo/');
  // Clients compare the version with their own.
  expect(JSON.parse(info.body ?? '')).toMatchObject({
    version: 'v2.29.1+stepform',
    telemetry: false,
    workspace_proxy: false,
  });
});

it('the API tells clients which features they may use', async () => {
  const get = async (path: string) => (await world.call('GET', path)).body;
  const entitled = { entitlement: 'entitled', enabled: true };
  const features = {
    advanced_template_scheduling: entitled,
    access_control: entitled,
    workspace_prebuilds: entitled,
    audit_log: entitled,
  };
  const license = { has_license: true, trial: false, require_telemetry: false };
  expect(await get('/entitlements')).toMatchObject({ ...license, features, errors: [], warnings: [] });
  expect(await get('/users/authmethods')).toEqual({
    terms_of_service_url: '',
    password: { enabled: false },
    github: { enabled: false, default_provider_configured: false },
    oidc: { enabled: false, signInText: '', iconUrl: '' },
  });
  expect(await get('/appearance')).toMatchObject({ service_banner: { enabled: false } });
  expect(await get('/users/first')).toEqual({ message: 'The initial user has already been created!' });
  expect([await get('/experiments'), (await get('/updatecheck')).current]).toEqual([[], true]);
});

it("the API reports the caller's rights to create environments and change templates", async () => {
  const user = await world.members.withLevel('acme', 'plan');
  const object = (resource_type: string, more = {}) => ({ resource_type, organization_id: 'acme', ...more });
  const more = {
    'creates its own': { object: object('workspace', { owner_id: 'me' }), action: 'create' },
    'creates others': { object: object('workspace'), action: 'create' },
    'reads its own': { object: object('workspace', { owner_id: 'me' }), action: 'read' },
    'reads others': { object: object('workspace'), action: 'read' },
    'reads templates': { object: object('template'), action: 'read' },
    'changes templates': { object: object('template'), action: 'update' },
    'reads the audit trail': { object: object('audit_log'), action: 'read' },
    'reads unknown things': { object: object('group'), action: 'read' },
  };
  const allowed = async (token: string) => {
    const { body } = await world.call('POST', '/authcheck', { body: { checks: more }, token });
    return Object.keys(body).filter((name) => body[name]);
  };
  expect(await allowed(user.token)).toEqual(['creates its own', 'reads its own', 'reads templates']);
  expect(await allowed(world.api.token)).toEqual(Object.keys(more).slice(0, -1));
  for (const outsider of [await world.members.acting('acme', 'member'), await world.members.newUser('stranger-here')])
    expect(await allowed(outsider.token)).toEqual([]);
  for (const reader of [
    await world.members.withLevel('acme', 'read'),
    await world.members.withFlags('acme', 'read-projects'),
  ])
    expect(await allowed(reader.token)).toEqual(['reads its own', 'reads templates']);
  const statusOf = async (n: number) => {
    const many = Object.fromEntries(Array.from({ length: n }, (_, i) => [`${i}`, more['creates others']]));
    return (await world.call('POST', '/authcheck', { body: { checks: many } })).status;
  };
  expect([await statusOf(50), await statusOf(51)]).toEqual([200, 400]);
  const one = { read: { object: { resource_type: 'workspace', resource_id: 'x' }, action: 'read' } };
  const refused = await world.call('POST', '/authcheck', { body: { checks: one } });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('resource_id')]);
});

it.each([
  ['coder users create', 'POST', '/users', /Invite them to the organization/],
  ['coder users suspend', 'PUT', '/users/me/status/suspend', /User accounts are not changed here/],
  ['coder users delete', 'DELETE', '/users/me', /User accounts are not changed here/],
  ['coder organizations members list', 'GET', '/organizations/acme/members', /Members of an organization/],
  ['coder organizations create', 'POST', '/organizations', /Organizations and groups are not changed here/],
  ['coder groups create', 'POST', '/organizations/acme/groups', /Groups are the teams/],
  ['coder provisioner list', 'GET', '/organizations/acme/provisionerdaemons', /no provisioner daemons/],
  ['coder publickey', 'GET', '/users/me/gitsshkey', /no Git SSH keys/],
  ['coder notifications pause', 'PUT', '/notifications/settings', /Coder’s notifications are not provided/],
  ['coder netcheck', 'GET', '/debug/health', /connections to them, are not provided/],
  ['coder licenses list', 'GET', '/licenses', /^\/api\/v2\/licenses is not provided by this platform\.$/],
  ['no command', 'GET', '/nonsense', /^Route not found\.$/],
])('the error explains that a route is not served: %s', async (_, method, path, message) => {
  const answer = await world.call(method, path);
  expect(answer.status).toBe(404);
  expect((answer.body as { message: string }).message).toMatch(message);
});
