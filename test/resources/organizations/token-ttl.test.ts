import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

let api: Api;
let help: Awaited<ReturnType<typeof runHelpers>>;
beforeAll(async () => {
  api = await startApi();
  help = await runHelpers(api);
});
afterAll(() => api.close());

const path = 'organizations/acme/token-ttl-policies';
const dayMs = 86_400_000;
const setTo = (type: string, ms: number) =>
  api.patch(path, { 'token-ttl-policies': [{ 'token-type': type, 'max-ttl-ms': ms }] });
const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
const daysLeft = (body: { data: { attributes: Record<string, string> } }) =>
  (Date.parse(body.data.attributes['expired-at'] ?? '') - Date.now()) / dayMs;

it('a policy limits tokens of the organization and of teams that are created afterwards', async () => {
  const token = 'organizations/acme/authentication-token';
  expect((await api.get(path)).body.data).toEqual([]);
  expect(daysLeft((await api.post(token, {})).body)).toBeGreaterThan(700);
  expect((await setTo('organization', 30 * dayMs)).body.data).toMatchObject([
    {
      type: 'organization-token-ttl-policies',
      attributes: { 'token-type': 'organization', 'max-ttl-ms': 30 * dayMs },
    },
  ]);
  expect(daysLeft((await api.post(token, {})).body)).toBeCloseTo(30, 1);
  expect(daysLeft((await api.post(token, { 'expired-at': inDays(10) })).body)).toBeCloseTo(10, 1);
  const refused = await api.post(token, { 'expired-at': inDays(31) });
  expect([refused.status, refused.body.errors[0].detail]).toEqual([422, expect.stringMatching(/token TTL policy/)]);

  const { id } = (await api.post('organizations/acme/teams', { name: 'short-lived' })).body.data;
  await setTo('team', 7 * dayMs);
  expect((await api.get(path)).body.data).toHaveLength(2);
  const made = await api.post(`teams/${id}/authentication-tokens`, { description: 'ci' });
  expect(daysLeft(made.body)).toBeCloseTo(7, 1);
});

it.each([
  ['user', dayMs, /user-tokens-enabled/],
  ['metrics', dayMs, /no metrics tokens/],
  ['other', dayMs, /must be of organization, team, audit_trails/],
  ['team', 1000, /one hour/],
])('the API rejects a policy for %s of %i ms by name', async (type, ms, detail) => {
  const { status, body } = await setTo(type, ms);
  expect([status, body.errors[0].detail]).toEqual([422, expect.stringMatching(detail)]);
});

it('changing a policy requires an owner', async () => {
  const { token } = await help.user('admin');
  const headers = { authorization: `Bearer ${token}` };
  expect((await api.call('GET', path, { headers })).status).toBe(403);
});
