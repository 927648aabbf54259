import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { actingAs, type Sent, uniqueName } from '#test/support/api.ts';
import { preset, startEnvironments } from './support.ts';

/** Invalid input of the environments' API, and visibility of other users. */

const world = await startEnvironments();

describe('unknown input', () => {
  it('in a body is refused by name, and nothing is created', async () => {
    const template = await world.addTemplate();
    const name = 'typo';
    const answer = await world.create(template, { name, autostart_shedule: '0 9 * * *' });
    expect([answer.status, answer.body.validations]).toEqual([
      400,
      [{ field: 'autostart_shedule', detail: expect.stringContaining('autostart_shedule: is not supported; use ') }],
    ]);
    expect((await world.call('GET', `/users/me/workspace/${name}`)).status).toBe(404);
    const long = await world.create(template, { name: 'x'.repeat(300) });
    expect(long.body.validations[0].detail).toMatch(/ value: "x{199}$/);
    const deep = await world.create(template, { rich_parameter_values: [{ name: 'a', value: 'b', valu: 'c' }] });
    expect(deep.body.validations).toEqual([expect.objectContaining({ field: 'rich_parameter_values.0.valu' })]);
    for (const body of ['[]', '{"checks":[]}']) {
      expect((await world.call('POST', '/authcheck', { body })).status).toBe(400);
    }
  });

  it.each([
    ['a body that is not JSON', 'POST', '/authcheck', { body: '{' }, 400, /^Request body must be valid JSON/],
    ['no body', 'POST', '/authcheck', {}, 400, /^Request body must be valid JSON.*EOF/],
    ['an unknown token', 'GET', '/users/me', { token: 'x' }, 401, /^You are signed out or your session has expired/],
    ['a route for others', 'GET', '/deployment/config', {}, 403, /^Forbidden.*contact your administrator/],
    ['an unknown route', 'GET', '/nothing', {}, 404, /^Route not found\.$/],
    ['an id that is no UUID', 'GET', `/workspaces/${'x'.repeat(101)}`, {}, 400, /^Invalid UUID "x{100}"\.$/],
    ['an unknown user', 'GET', '/users/no-such-user', {}, 404, /^Resource not found or you do not have access/],
    ['a body of 3 MB', 'POST', '/authcheck', { body: ' '.repeat(3e6) }, 413, /^payload too large.*maximum is 2097152/],
  ])('gets an answer that names the reason: %s', async (_, method, path, sent, status, text) => {
    const { status: answered, body } = await world.call(method, path, sent);
    expect([answered, [body.message, body.detail].filter(Boolean).join(' ')]).toEqual([
      status,
      expect.stringMatching(text),
    ]);
  });

  it('meets no internals when the platform fails', async () => {
    world.api.aws.failCall(1, 'before');
    const answer = await world.call('GET', '/users/me');
    expect([answer.status, answer.body]).toEqual([500, { message: 'An internal server error occurred.' }]);
  });

  it('in a query is refused by name', async () => {
    expect((await world.call('GET', '/users/me?no_such=')).status, 'without a value').toBe(200);
    const { validations } = (await world.call('GET', '/users/me?no_such=1')).body;
    expect(validations).toEqual([{ field: 'no_such', detail: '"no_such" is not a valid query param' }]);
    expect((await world.call('GET', '/templates?no_such=1')).body.validations[0].detail).toMatch(/; supported: q$/);
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`x${n}`.padEnd(101, 'x'), '1']));
    const refused = [
      await world.call('GET', `/users/me?${new URLSearchParams(many)}`),
      await world.call('POST', '/authcheck', { body: many }),
    ];
    expect(refused.map(({ body }) => [body.validations.length, body.validations[0].field.length])).toEqual([
      [20, 100],
      [20, expect.any(Number)],
    ]);
  });

  it('to list the tokens of all users is rejected for every caller', async () => {
    for (const [value, status] of Object.entries({ '=false': 200, '=0': 200, '=true': 400, '': 400 }))
      expect((await world.call('GET', `/users/me/keys/tokens?include_all${value}`)).status, value).toBe(status);
  });

  it('in the cookie of a session is 401', async () => {
    for (const cookie of ['%', '%ff', 'a b']) {
      expect(
        (await world.call('GET', '/users/me', { token: null, cookies: [`coder_session_token=${cookie}`] })).status,
      ).toBe(401);
    }
  });
});

it('an environment is created only from one template, with a usable version and valid settings', async () => {
  const template = await world.addTemplate({ allowUserAutostart: false, requireActiveVersion: true });
  const { id: template_id, activeVersionId } = template;
  const [old, archived] = [await world.addVersion(template), await world.addVersion(template)];
  await world.call('POST', `/templateversions/${archived}/archive`);
  const { id } = await world.addTemplate();
  const manual = await world.addTemplate({ allowUserAutostop: false });
  const deprecated = await world.addTemplate({ deprecationMessage: 'old' });
  const person = await world.members.withLevel('acme', 'plan');
  const { username } = (await world.call('GET', '/users/me', person)).body;
  const stranger = await world.members.newUser('stranger-to-all');
  await world.members.member('acme');
  const unknown = crypto.randomUUID();
  const unset = '00000000-0000-0000-0000-000000000000';
  for (const [body, status, why, sent = {}, user = 'me'] of [
    [{}, 400, 'template_id'],
    [{ template_id, template_version_id: old }, 400, 'template_id'],
    [{ template_id: 'x' }, 400, 'template_id: Validation failed for tag "uuid" with value: "x"'],
    [{ template_id: unknown }, 400, `Template ${unknown} not found`],
    [{ template_id: id }, 400, ' not found', stranger],
    [{ template_id, name: 'new' }, 400, 'name'],
    [{ template_id, name: 'a--b' }, 400, 'name'],
    [{ template_id, name: 'x'.repeat(33) }, 400, 'name'],
    [{ template_id, autostart_schedule: '0 9 * * *' }, 400, 'Autostart is not allowed'],
    [{ template_id: id, autostart_schedule: 'at nine' }, 400, 'schedule'],
    [{ template_id: id, ttl_ms: 59_999 }, 400, 'ttl_ms'],
    [{ template_id: id, ttl_ms: 30 * 24 * 3_600_000 }, 400, 'ttl_ms'],
    [{ template_id: id, ttl_ms: 60_000.5 }, 400, 'ttl_ms'],
    [{ template_id: id, ttl_ms: 60_000, name: uniqueName('dev').padEnd(32, 'x') }, 201, ''],
    [{ template_id: id, template_version_preset_id: old }, 400, 'The preset does not belong to the template version.'],
    [{ template_id: manual.id, ttl_ms: 60_000 }, 400, 'ttl_ms'],
    [{ template_id: deprecated.id }, 400, 'has been deprecated'],
    [{ template_version_id: archived }, 400, 'Archived template versions'],
    [{ template_version_id: old }, 403, 'insert workspace build', person],
    [{ template_version_id: old }, 201, ''],
    [{ template_version_id: activeVersionId, template_id: unset }, 201, '', person],
    [{ template_id: id }, 201, '', {}, username],
    [{ template_id: id }, 403, 'Unauthorized', person, 'owner'],
    [{ template_id: id }, 403, 'Unauthorized', {}, 'member'],
    [{ template_id: id }, 404, 'not found', {}, 'no-such-user'],
    [{ template_id: id }, 404, 'not found', {}, 'stranger-to-all'],
  ] as [object, number, string, Sent?, string?][]) {
    const path = `/users/${user}/workspaces`;
    const answer = await world.call('POST', path, { body: { name: uniqueName('dev'), ...body }, ...sent });
    const { message = '', validations: [{ field, detail }] = [{ field: '', detail: '' }] } = answer.body;
    const reason = field ? `${field}: ${detail}` : message;
    expect([body, answer.status, reason]).toEqual([body, status, expect.stringContaining(why)]);
  }
  const timed = await world.addTemplate({ defaultTtlMs: 7_200_000 });
  for (const [ttl_ms, stored] of [
    [undefined, 7_200_000],
    [null, 7_200_000],
    [0, null],
    [90_000, 60_000],
  ]) {
    const { body } = await world.create(timed, { autostart_schedule: '', ttl_ms });
    expect(body).toMatchObject({ autostart_schedule: null, ttl_ms: stored });
  }
});

it('a build with contradictory options or for another template is rejected, and not created', async () => {
  const template = await world.addTemplate({ requireActiveVersion: true });
  const person = await world.members.withLevel('acme', 'plan');
  const id = await world.running(template, {}, person);
  const state = world.stateOf([]).toString('base64');
  const elsewhere = (await world.addTemplate()).activeVersionId;
  const failed = await world.addVersion(template, [], { error: 'x' });
  const importing = await world.addVersion(template, [], { completedAt: undefined, runIds: ['run-x'] });
  const refused = async (...rows: [string, object, number, string, Sent?][]) => {
    for (const [transition, body, status, why, sent = {}] of rows) {
      const answer = await world.build(id, transition, { ...sent, body: { transition, ...body } });
      expect([body, answer.status, answer.body.message]).toEqual([body, status, expect.stringContaining(why)]);
    }
  };
  await refused(
    ['start', { dry_run: true }, 400, 'dry_run'],
    ['stop', { orphan: true }, 400, 'only permitted when deleting'],
    ['delete', { orphan: true, state }, 400, 'alongside Orphan'],
    ['start', { template_version_id: elsewhere }, 400, "template version doesn't match template"],
    ['start', { template_version_id: failed }, 400, 'has failed to import: "x"'],
    ['start', { template_version_id: importing }, 406, 'is running'],
    ['start', { template_version_preset_id: elsewhere }, 400, 'preset'],
    ['start', { state: 'e30=' }, 400, 'The state is not valid.'],
    ['start', { state }, 403, 'custom state', person],
    ['delete', { orphan: true }, 403, 'state', person],
  );
  await world.call('PATCH', `/templates/${template.id}/versions`, { body: { id: await world.addVersion(template) } });
  await refused(['start', {}, 403, 'insert workspace build', person]);
  expect((await world.latest(id)).number).toBe(1);
  const build = async (transition: string, reason: string, sent: Sent = {}) => {
    const { status } = await world.build(id, transition, { ...sent, body: { transition, reason } });
    const latest = await world.latest(id);
    await world.end(id);
    return [status, latest.number, latest.reason];
  };
  expect(await build('start', 'ssh_connection')).toEqual([201, 2, 'ssh_connection']);
  expect(await build('stop', 'cli', person), 'a stop takes any version').toEqual([201, 3, 'initiator']);
});

it('a build takes the values of the request, its preset or the build before it, and is refused for an invalid one', async () => {
  const { putFound } = await import('#environments/templates/versions.ts');
  const template = await world.addTemplate();
  const plan = (name: string, values: object) => ({
    address: name,
    mode: 'data',
    type: 'coder_parameter',
    name,
    values,
  });
  const { parametersIn } = await import('#environments/templates/plan.ts');
  const resources = [
    plan('region', { name: 'region', default: 'eu', optional: true }),
    plan('size', { name: 'size', type: 'number', default: '1', optional: true, mutable: true }),
  ] as never;
  const small = preset({ parameters: { size: '1' } });
  const found = {
    parameters: parametersIn({ prior_state: { values: { root_module: { resources } } } }),
    presets: [small],
  };
  await putFound(template.activeVersionId, { ...found, start: [], stop: [] });
  const value = (name: string, text: string) => ({ rich_parameter_values: [{ name, value: text }] });
  const refused = await world.create(template, value('size', 'many'));
  expect([refused.status, refused.body.message]).toEqual([400, 'Unable to validate parameter "size"']);
  const asPreset = await world.running(template, value('size', '1'));
  expect((await world.latest(asPreset)).presetId, 'values of a preset').toBe(small.id);
  const id = await world.running(template, value('size', '7'));
  const valuesAfter = async (body: object) => {
    const answer = await world.call('POST', `/workspaces/${id}/builds`, { body });
    if (answer.status === 201) await world.end(id);
    const { parameters, presetId } = await world.latest(id);
    return [answer.status, ...parameters.map((one) => one.value), presetId];
  };
  for (const [transition, body, ...expected] of [
    ['stop', {}, 201, 'eu', '7', undefined],
    // Not mutable.
    ['start', value('region', 'us'), 400, 'eu', '7', undefined],
    ['stop', value('size', '8'), 201, 'eu', '8', undefined],
    ['start', {}, 201, 'eu', '8', undefined],
    ['start', { template_version_preset_id: small.id }, 201, 'eu', '1', small.id],
    ['start', value('size', '9'), 201, 'eu', '9', undefined],
    // As in the preset.
    ['start', value('size', '1'), 201, 'eu', '1', small.id],
  ] as const)
    expect(await valuesAfter({ transition, ...body })).toEqual(expected);
  const hash = createHash('sha256').update('size').digest('hex');
  expect(await world.inputsOf(id)).toMatchObject({
    [`CODER_PARAMETER_${hash}`]: '1',
    [`CODER_PARAMETER_PREVIOUS_${hash}`]: '9',
  });
});

it('a running build can be canceled with permission to interrupt builds, a pending one also by its owner', async () => {
  const { updateRun } = await import('#resources/runs/records.ts');
  const template = await world.addTemplate();
  const person = await world.members.withLevel('acme', 'plan');
  const id = await world.running(template, {}, person);
  const request = async (sent = {}, query = '') =>
    world.call('PATCH', `/workspacebuilds/${(await world.latest(id)).id}/cancel${query}`, sent);
  const cancel = async (...sent: Parameters<typeof request>) => (await request(...sent)).status;
  expect((await request()).body.message).toBe('Job has already completed!');
  await world.build(id, 'stop', person);
  expect(await cancel(person), 'while it is pending').toBe(200);
  const job = async () => (await world.call('GET', `/workspacebuilds/${(await world.latest(id)).id}`)).body.job;
  expect(await job()).toMatchObject({ status: 'canceling', canceled_at: expect.any(String) });
  await world.end(id, 'canceled');
  expect(await job()).toMatchObject({ status: 'canceled', canceled_at: expect.any(String) });
  const start = async () => {
    await world.build(id, 'stop', person);
    const { runIds } = await world.latest(id);
    await updateRun(runIds[0] ?? '', { set: { status: 'planning' } });
  };
  await start();
  expect(await cancel(person)).toBe(403);
  expect(await cancel({}, '?expect_status=pending')).toBe(412);
  expect(await cancel()).toBe(200);
  await world.end(id, 'canceled');
  await world.call('PATCH', `/templates/${template.id}`, { body: { allow_user_cancel_workspace_jobs: true } });
  await start();
  expect(await cancel(person)).toBe(200);
  expect((await request(person)).body.message).toBe('Job has already been marked as canceled!');
  await world.end(id, 'canceled');
});

it('a user has tokens with names and lifetimes, which only they see and revoke', async () => {
  const person = await world.members.withLevel('acme', 'plan');
  const tokens = '/users/me/keys/tokens';
  const create = (body: object, sent: Sent = person) => world.call('POST', tokens, { ...sent, body });
  const secondsOf = async (name: string) =>
    (await world.call('GET', `${tokens}/${name}`, person)).body.lifetime_seconds;
  const hourNs = 3_600_000 * 1_000_000;
  const made = await create({ token_name: 'ci', lifetime: hourNs });
  expect(made.status).toBe(201);
  const { key } = made.body;
  expect((await world.call('GET', '/users/me', { token: key })).status).toBe(200);
  const [shown, ...others] = (await world.call('GET', tokens, person)).body.filter(
    (one: { token_name: string }) => one.token_name === 'ci',
  );
  expect([shown, others]).toEqual([
    expect.objectContaining({ lifetime_seconds: 3600, scope: 'all', scopes: ['coder:all'], login_type: 'token' }),
    [],
  ]);
  for (const path of [`${tokens}/ci`, `/users/me/keys/${shown.id}`])
    expect((await world.call('GET', path, person)).body).toMatchObject({ id: shown.id, token_name: 'ci' });
  expect((await create({ token_name: 'ci' })).status).toBe(409);
  expect((await create({ token_name: 'short', lifetime: hourNs / 2 }, { token: key })).status).toBe(201);
  expect(await secondsOf('short')).toBe(1800);
  const plain = (await create({}, { token: key })).body.key;
  const inherited = (await world.call('GET', tokens, person)).body.map((one: { lifetime_seconds: number }) => one);
  expect(inherited.filter((one: { lifetime_seconds: number }) => one.lifetime_seconds <= 3600)).toHaveLength(3);
  for (const body of [{ lifetime: 2 * 366 * 24 * hourNs }, { scope: 'read' }, { scopes: ['x'] }, { allow_list: [{}] }])
    expect((await create({ token_name: uniqueName('t'), ...body })).status, JSON.stringify(body)).toBe(400);
  const full = { scope: 'all', scopes: ['coder:all'], allow_list: [{ type: '*', id: '*' }] };
  expect((await create({ token_name: 'full', ...full })).status).toBe(201);
  expect((await create({ token_name: 'longest', lifetime: 2 * 365 * 24 * hourNs })).status).toBe(201);
  expect([await secondsOf('full'), await secondsOf('longest')]).toEqual([30 * 86_400, 2 * 365 * 86_400]);
  const { username } = (await world.call('GET', '/users/me', person)).body;
  expect((await world.call('GET', `/users/${username}/keys/tokens`)).status, 'of another user').toBe(404);
  expect((await world.call('GET', `/users/${username}/organizations`)).status).toBe(404);
  expect((await world.call('POST', '/users/logout', { token: plain })).status).toBe(200);
  expect((await world.call('GET', '/users/me', { token: plain })).status, 'no session').toBe(200);
  const session = (await world.call('POST', '/users/me/keys', person)).body.key;
  expect((await world.call('POST', '/users/logout', { token: session })).status).toBe(200);
  expect((await world.call('GET', '/users/me', { token: session })).status).toBe(401);
  const revoke = () => world.call('DELETE', `/users/me/keys/${shown.id}`, person);
  expect([(await revoke()).status, (await revoke()).status]).toEqual([204, 404]);
  expect((await world.call('GET', '/audit?q=resource_type:api_key%20action:delete')).body.count).toBeGreaterThan(0);
  expect((await world.call('GET', '/users/me', { token: key })).status).toBe(401);
});

it('the API lists builds after an id and since a time, with any UTC offset', async () => {
  const id = await world.running(await world.addTemplate());
  const [build] = (await world.call('GET', `/workspaces/${id}/builds`)).body;
  const at = Date.parse(build.created_at);
  const eastern = (ms: number) => `${new Date(ms + 5 * 3_600_000).toISOString().slice(0, -1)}%2B05:00`;
  const since = async (ms: number) => (await world.call('GET', `/workspaces/${id}/builds?since=${eastern(ms)}`)).body;
  expect(await since(at - 60_000)).toHaveLength(1);
  expect(await since(at + 60_000)).toEqual([]);
  expect((await world.call('GET', `/workspaces/${id}/builds?after_id=${build.id}`)).body).toEqual([]);
  expect((await world.call('GET', `/workspaces/${id}/builds?after_id=${id}`)).status).toBe(400);
});

it('the API shows roles of users in organizations that the caller shares, and not in others', async () => {
  const other = await world.members.withLevel('acme', 'read');
  const { id: ownId } = (await world.call('GET', '/organizations/acme', { token: world.api.token })).body;
  const own = actingAs(world.api, other.token);
  expect((await own.post('organizations', { name: 'side-project', email: 'a@b.test' })).status).toBe(201);
  const { username } = (await world.call('GET', '/users/me', { token: other.token })).body;
  const shown = (await world.call('GET', `/users/${username}`)).body;
  expect(shown).toMatchObject({ username, organization_ids: [ownId], roles: [] });
  const itself = (await world.call('GET', '/users/me', { token: other.token })).body;
  expect(itself.organization_ids).toHaveLength(2);
  expect(itself.roles).toHaveLength(1);
  const { users } = (await world.call('GET', `/users?q=email:${itself.email}`)).body;
  expect(users).toEqual([expect.objectContaining({ username, email: itself.email, organization_ids: [ownId] })]);
  expect(
    (await world.call('GET', `/users/${username}`, { token: (await world.members.member('acme')).token })).status,
  ).toBe(404);
  await world.api.post('organizations/acme/organization-memberships', { email: 'invited@b.test' });
  for (const query of ['status:suspended', 'email:invited@b.test'])
    expect((await world.call('GET', `/users?q=${query}`)).body.users, query).toEqual([]);
  expect(users[0]).toMatchObject({ status: 'active', login_type: 'token', roles: [] });
  const list = async (query: string) => (await world.call('GET', `/users?${query}`)).body;
  const everyone = await list('');
  expect(everyone.count).toBe(everyone.users.length);
  const second = await list('limit=1&offset=1');
  expect([second.count, second.users]).toEqual([everyone.count, [everyone.users[1]]]);
  expect((await list(`q=name:${username.toUpperCase()}`)).users).toMatchObject([{ username }]);
  expect((await list(`q=${itself.email}`)).users).toMatchObject([{ username }]);
  expect((await list('q=name:unknown')).count).toBe(0);
});

it('an organization is found by its id, its name in any case, and as the default one', async () => {
  const organization = async (named: string, sent = {}) =>
    (await world.call('GET', `/organizations/${named}`, sent)).body;
  const acme = await organization('acme');
  expect(acme).toMatchObject({ name: 'acme', display_name: 'acme', is_default: true });
  for (const named of [acme.id, 'ACME', 'default', acme.id.toUpperCase()])
    expect(await organization(named)).toEqual(acme);
  expect((await world.call('GET', '/organizations')).body).toEqual([acme]);
  expect((await world.call('GET', '/users/me/organizations/acme')).body).toEqual(acme);
  expect((await world.call('GET', '/organizations/unknown')).status).toBe(404);
  const config = (await world.call('GET', '/users/me/keys/tokens/tokenconfig')).body;
  expect(config.max_token_lifetime / 1e9).toBe(2 * 365 * 24 * 3600);
});
