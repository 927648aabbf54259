import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answered, pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** Tokens of users, teams and organizations: permissions to create and see them, and their lifetime. */

const api = await startApi();
const members = await memberHelpers();
const store: typeof import('#platform/store/table.ts') &
  typeof import('#platform/store/id.ts') &
  typeof import('#platform/store/keys.ts') = {
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/id.ts')),
  ...(await import('#platform/store/keys.ts')),
};

const tokenIn = ({ body }: Answered): string => body.data.attributes.token;
const status = async (token: string, path = 'organizations/acme') => (await api.get(path, { token })).status;
const inOneHour = () => new Date(Date.now() + 3_600_000).toISOString();

const organizationToken = 'organizations/acme/authentication-token';

describe('a token', () => {
  it('is shown once and stored only as a hash', async () => {
    const response = await api.post(`users/${api.userId}/authentication-tokens`, { description: 'laptop' });
    const secret = tokenIn(response);
    const read = await api.get(`authentication-tokens/${response.body.data.id}`);
    expect(read.body.data.attributes).toMatchObject({ description: 'laptop', token: null, 'last-used-at': null });
    expect(JSON.stringify((await api.get(`users/${api.userId}/authentication-tokens`)).body)).not.toContain(secret);
    const item = await store.get(store.keys.token(store.hashSecret(secret)));
    expect(JSON.stringify(item)).not.toContain(secret.slice(5));
  });

  it('lasts two years by default', async () => {
    const response = await api.post(`users/${api.userId}/authentication-tokens`, { description: 'two years' });
    const days = (Date.parse(response.body.data.attributes['expired-at']) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(729);
    expect(days).toBeLessThan(732);
  });

  it('is invalid as soon as it is deleted or expired', async () => {
    const response = await api.post(`users/${api.userId}/authentication-tokens`, {
      description: 'a',
      'expired-at': inOneHour(),
    });
    expect(await status(tokenIn(response))).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_001 });
    expect(await status(tokenIn(response))).toBe(401);
    vi.useRealTimers();
    expect(await status(tokenIn(response))).toBe(200);
    expect((await api.call('DELETE', `authentication-tokens/${response.body.data.id}`)).status).toBe(204);
    expect(await status(tokenIn(response))).toBe(401);
    expect((await api.call('DELETE', `authentication-tokens/${response.body.data.id}`)).status).toBe(404);
    for (const expired of ['2020-01-01T00:00:00Z', 'tomorrow']) {
      const refused = await api.post(`users/${api.userId}/authentication-tokens`, { 'expired-at': expired });
      expect(pointerOf(refused)).toEqual([422, '/data/attributes/expired-at']);
    }
  });

  it('records its last use at most once an hour', async () => {
    const response = await api.post(`users/${api.userId}/authentication-tokens`, {});
    const used = async () =>
      (await api.get(`authentication-tokens/${response.body.data.id}`)).body.data.attributes['last-used-at'];
    const callsOf = async (): Promise<number> => {
      const before = api.aws.calls;
      expect(await status(tokenIn(response))).toBe(200);
      return api.aws.calls - before;
    };
    expect(await used()).toBeNull();
    const first = await callsOf();
    const at = await used();
    expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000);
    expect(first - (await callsOf())).toBe(1);
    expect(await used()).toBe(at);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_700_000 });
    await callsOf();
    vi.useRealTimers();
    expect(Date.parse(await used()) - Date.parse(at)).toBeGreaterThan(3_600_000);
  });

  it('of another user is 404', async () => {
    const { token } = await members.member('acme');
    const mine = (await api.get(`users/${api.userId}/authentication-tokens`)).body.data[0].id;
    expect(await status(token, `authentication-tokens/${mine}`)).toBe(404);
    expect((await api.call('DELETE', `authentication-tokens/${mine}`, { token })).status).toBe(404);
    expect(await status(token, `users/${api.userId}/authentication-tokens`)).toBe(404);
  });

  it('is rejected when the user has 100', async () => {
    const { id, token } = await members.newUser('collector');
    const { createToken } = await import('#resources/users/tokens.ts');
    for (let n = 1; n < 100; n++) await createToken(id, String(n));
    const refused = await api.post(`users/${id}/authentication-tokens`, {}, {}, { token });
    expect(refused).toMatchObject({
      status: 422,
      body: { errors: [{ detail: expect.stringContaining('already 100 tokens') }] },
    });
  });
});

describe('the organization’s token', () => {
  beforeEach(async () => {
    await api.call('DELETE', organizationToken);
    await api.call('DELETE', `${organizationToken}?token=audit-trails`);
  });

  it.each([undefined, {}])('needs no body: %j', async (body) => {
    const { status, body: answer } = await api.call('POST', organizationToken, { body });
    expect([status, typeof answer.data.attributes.token]).toEqual([201, 'string']);
  });

  it('manages workspaces and teams, but cannot start runs', async () => {
    expect((await api.get(organizationToken)).status).toBe(404);
    const response = await api.post(organizationToken, { 'expired-at': inOneHour() });
    expect(response).toMatchObject({
      status: 201,
      body: { data: { attributes: { token: expect.stringMatching(/^sforg_/) } } },
    });
    const token = tokenIn(response);
    const workspace = await api.post('organizations/acme/workspaces', { name: uniqueName('ws') }, {}, { token });
    expect(workspace.status).toBe(201);
    expect((await api.post('organizations/acme/teams', { name: uniqueName('crew') }, {}, { token })).status).toBe(200);
    const relationships = { workspace: { data: { type: 'workspaces', id: workspace.body.data.id } } };
    expect((await api.post('runs', {}, relationships, { token })).status).toBe(403);
    expect(await status(token, organizationToken)).toBe(403);
    const account = (await api.get('account/details', { token })).body.data;
    expect(account.attributes).toMatchObject({ username: 'api-org-acme', 'is-service-account': true });
    expect(account.relationships['authenticated-resource'].data).toEqual({ type: 'organizations', id: 'acme' });
  });

  it('exists once: a new one replaces it', async () => {
    const first = tokenIn(await api.post(organizationToken));
    const second = tokenIn(await api.post(organizationToken));
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    expect((await api.get(organizationToken)).body.data.attributes.token).toBeNull();
    expect((await api.call('DELETE', organizationToken)).status).toBe(204);
    expect(await status(second)).toBe(401);
    expect((await api.call('DELETE', organizationToken)).status).toBe(404);
  });

  it('can be created only by owners', async () => {
    const { token } = await members.withFlags('acme', 'manage-organization-access', 'manage-workspaces');
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect((await api.call(method, organizationToken, { token })).status).toBe(403);
    }
  });

  it('cannot use account routes', async () => {
    const token = tokenIn(await api.post(organizationToken));
    const { id } = (await api.get('account/details', { token })).body.data;
    expect((await api.post(`users/${id}/authentication-tokens`, {}, {}, { token })).status).toBe(404);
    expect(
      (await api.call('PATCH', 'account/update', { token, body: { data: { attributes: { username: 'me' } } } })).status,
    ).toBe(403);
    expect((await api.post('organizations', { name: 'theirs', email: 'a@b.test' }, {}, { token })).status).toBe(403);
    const people = (await api.get('organizations/acme/organization-memberships')).body.data;
    expect(JSON.stringify(people)).not.toContain(id);
  });

  it('of type audit-trails reads only the audit trail', async () => {
    const own = tokenIn(await api.post(organizationToken));
    const path = `${organizationToken}?token=audit-trails`;
    const token = tokenIn(await api.post(path));
    expect(token).toMatch(/^sfaudit_/);
    for (const path of ['organizations/acme', 'organizations/acme/workspaces', organizationToken]) {
      expect(await status(token, path)).toBe(404);
    }
    expect((await api.get('organization/audit-trail', { token })).body.data.length).toBeGreaterThan(0);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(await status(token, 'account/details')).toBe(401);
    expect(await status(own)).toBe(200);
    expect((await api.get(`${organizationToken}?token=nothing`)).status).toBe(400);
  });

  it('is rejected after its organization was deleted', async () => {
    await api.post('organizations', { name: 'phoenix', email: 'a@b.test' });
    const token = tokenIn(await api.post('organizations/phoenix/authentication-token'));
    expect(await status(token, 'organizations/phoenix')).toBe(200);
    await api.call('DELETE', 'organizations/phoenix');
    await api.post('organizations', { name: 'phoenix', email: 'a@b.test' });
    expect(await status(token, 'organizations/phoenix')).toBe(401);
  });
});
