import { describe, expect, it } from 'vitest';
import { actingAs, detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

const dayMs = 86_400_000;
const twoYearsMs = 63_113_904_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
const daysLeft = (body: { data: { attributes: Record<string, string> } }) =>
  (Date.parse(body.data.attributes['expired-at'] ?? '') - Date.now()) / dayMs;

/** A new organization, and its owner with a token that expires after so many days. */
const make = async ({ days, enabled = true }: { days: number; enabled?: boolean }) => {
  const { createToken } = await import('#resources/users/tokens.ts');
  const owner = actingAs(api, (await createToken(api.userId, 'expiring', inDays(days))).secret);
  const name = uniqueName('ttl');
  const { status } = await owner.post('organizations', { name, email: 'a@b.test', 'max-ttl-enabled': enabled });
  if (status !== 201) throw new Error(`${status}`);
  const path = `organizations/${name}`;
  const policies = `${path}/token-ttl-policies`;
  return {
    owner,
    path,
    list: async () => (await owner.get(policies)).body.data,
    limit: (type: string, ms: number) =>
      owner.patch(policies, { 'token-ttl-policies': [{ 'token-type': type, 'max-ttl-ms': ms }] }),
  };
};

const limits = (data: { attributes: Record<string, unknown> }[]) =>
  Object.fromEntries(data.map(({ attributes }) => [attributes['token-type'], attributes['max-ttl-ms']]));

describe('while max-ttl-enabled is true', () => {
  it('the default of two years applies to kinds of tokens without a policy', async () => {
    const { list, limit } = await make({ days: 700 });
    const standard = { organization: twoYearsMs, team: twoYearsMs, user: twoYearsMs, audit_trails: twoYearsMs };
    expect(limits(await list())).toEqual(standard);
    expect(limits((await limit('team', 7 * dayMs)).body.data)).toEqual({ ...standard, team: 7 * dayMs });
  });

  it('a policy limits tokens of the organization and of teams that are created afterwards', async () => {
    const { owner, path, limit } = await make({ days: 700 });
    const token = `${path}/authentication-token`;
    expect(daysLeft((await owner.post(token, {})).body)).toBeGreaterThan(600);
    await limit('organization', 30 * dayMs);
    expect(daysLeft((await owner.post(token, {})).body)).toBeCloseTo(30, 1);
    expect(daysLeft((await owner.post(token, { 'expired-at': inDays(10) })).body)).toBeCloseTo(10, 1);
    const refused = await owner.post(token, { 'expired-at': inDays(31) });
    expect(detailOf(refused)).toEqual([422, expect.stringMatching(/token TTL policy/)]);

    const { id } = (await owner.post(`${path}/teams`, { name: 'short-lived' })).body.data;
    await limit('team', 7 * dayMs);
    const made = await owner.post(`teams/${id}/authentication-tokens`, { description: 'ci' });
    expect(daysLeft(made.body)).toBeCloseTo(7, 1);
  });

  it.each([
    ['organization', 'organization'],
    ['audit-trails', 'audit_trails'],
  ])('an existing token of kind %s that exceeds its policy gets 401', async (kind, type) => {
    const { owner, path, limit } = await make({ days: 700 });
    const { token } = (await owner.post(`${path}/authentication-token?token=${kind}`, {})).body.data.attributes;
    const read = async () =>
      (await api.get(kind === 'organization' ? `${path}/teams` : 'organization/audit-trail', { token })).status;
    expect(await read()).toBe(200);
    await limit(type, dayMs);
    expect(await read()).toBe(401);
    await owner.patch(path, { 'max-ttl-enabled': false });
    expect(await read()).toBe(200);
  });

  it("a member's token that exceeds the policy gets 401, and one of that lifetime does not", async () => {
    const { owner, path, limit } = await make({ days: 20 });
    await limit('user', 30 * dayMs);
    const refused = await api.get(path);
    expect(detailOf(refused)).toEqual([401, expect.stringMatching(/earlier expiry/)]);
    expect((await owner.get(path)).body.data.attributes['max-ttl-enabled']).toBe(true);
    const listed = (await api.get('organizations?page[size]=100')).body.data.map(({ id }: { id: string }) => id);
    expect(listed).not.toContain(path.split('/')[1]);
  });

  it('a member who is added later is limited too', async () => {
    const { addMember } = await import('#resources/users/memberships.ts');
    const { createUser } = await import('#resources/users/users.ts');
    const { createToken } = await import('#resources/users/tokens.ts');
    const { path } = await make({ days: 700 });
    const { id } = await createUser({ username: uniqueName('late'), email: 'late@b.test' });
    await addMember(path.split('/')[1] ?? '', id);
    const statuses = [];
    for (const end of [null, inDays(10)]) {
      statuses.push((await api.get(path, { token: (await createToken(id, '', end)).secret })).status);
    }
    expect(statuses).toEqual([401, 200]);
  });

  it('a token with the default lifetime of two calendar years satisfies the default policy', async () => {
    const { owner, path } = await make({ days: 731 });
    const { status, body } = await owner.post(`users/${api.userId}/authentication-tokens`, { description: 'default' });
    expect(status).toBe(201);
    expect((await api.get(path, { token: body.data.attributes.token })).status).toBe(200);
    expect((await owner.get(path)).status).toBe(200);
  });

  it('a policy that the token of the request exceeds is rejected', async () => {
    const { limit, list } = await make({ days: 20 });
    const { status, body } = await limit('user', 10 * dayMs);
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringMatching(/would stop working/)]);
    expect(limits(await list()).user).toBe(twoYearsMs);
  });
});

describe('while max-ttl-enabled is false', () => {
  it('policies are kept and limit nothing', async () => {
    const { owner, path, list, limit } = await make({ days: 20, enabled: false });
    expect(await list()).toEqual([]);
    await limit('user', dayMs);
    await limit('organization', dayMs);
    expect(limits(await list())).toEqual({ user: dayMs, organization: dayMs });
    expect((await owner.get(path)).body.data.attributes['max-ttl-enabled']).toBe(false);
    expect(daysLeft((await owner.post(`${path}/authentication-token`, {})).body)).toBeGreaterThan(20);
  });

  it('it cannot be enabled with a token that the policies reject', async () => {
    const { owner, path, limit } = await make({ days: 20, enabled: false });
    await limit('user', dayMs);
    expect((await owner.patch(path, { 'max-ttl-enabled': true })).status).toBe(422);
    await limit('user', 30 * dayMs);
    expect((await owner.patch(path, { 'max-ttl-enabled': true })).status).toBe(200);
  });
});

it.each([
  ['metrics', dayMs, /no metrics tokens/],
  ['other', dayMs, /must be of organization, team, user, audit_trails/],
  ['team', 1000, /one minute/],
])('the API rejects a policy for %s of %i ms by name', async (type, ms, detail) => {
  const { limit } = await make({ days: 20 });
  const { status, body } = await limit(type, ms);
  expect([status, body.errors[0].detail]).toEqual([422, expect.stringMatching(detail)]);
});

it('changing a policy requires an owner', async () => {
  const { token } = await help.user('admin');
  const headers = { authorization: `Bearer ${token}` };
  expect((await api.call('GET', 'organizations/acme/token-ttl-policies', { headers })).status).toBe(403);
});
