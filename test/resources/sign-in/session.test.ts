import { beforeEach, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { startIssuer } from '#test/support/issuer.ts';
import { Browser, callback, configure } from './support.ts';

/** The session of a user signed in on the web page. */

const api = await startApi();
const issuer = await startIssuer();
issuer.trust(callback);
beforeEach(() => {
  issuer.account = { sub: 'owner-1', email: 'owner@acme.test', email_verified: true };
  configure({}, issuer);
});

/** A session of the owner of acme; the token is needed only the first time. */
const begin = async () => {
  const { body } = await new Browser().signIn(issuer, api.token);
  return body as { access_token: string; expires_in: number };
};
const statusOf = async (token: string) => (await api.get('account/details', { token })).status;
const revoke = (token: string) => new Browser().open('/oauth/revoke', { method: 'POST', body: { token } });

it('revoking a session ends it immediately, but no API token', async () => {
  const { access_token: session } = await begin();
  const other = (await begin()).access_token;
  expect(await statusOf(session)).toBe(200);
  expect((await revoke(session)).status).toBe(200);
  expect(await statusOf(session)).toBe(401);
  expect(await statusOf(other)).toBe(200);
  for (const token of [session, api.token, 'sfs_unknown', '']) expect((await revoke(token)).status).toBe(200);
  expect(await statusOf(api.token)).toBe(200);
});

it('a session is limited to a working day, or to the strictest setting of an organization', async () => {
  const standard = (await begin()).expires_in;
  expect(standard).toBeGreaterThan(11.9 * 3600);
  expect(standard).toBeLessThanOrEqual(12 * 3600);
  await api.post('organizations', { name: 'strict', email: 'o@acme.test', 'session-timeout': 30 });
  await api.patch('organizations/acme', { 'session-remember': 60 });
  expect((await begin()).expires_in).toBeLessThanOrEqual(30 * 60);
  await api.call('DELETE', 'organizations/strict');
  const { expires_in: seconds } = await begin();
  expect(seconds).toBeGreaterThan(30 * 60);
  expect(seconds).toBeLessThanOrEqual(60 * 60);
});

it('sessions are not listed among tokens, and only their hash is stored', async () => {
  const { access_token: session } = await begin();
  const { data } = (await api.get(`users/${api.userId}/authentication-tokens`)).body;
  expect(data).toHaveLength(1);
  const { keys } = await import('#platform/store/keys.ts');
  const { get } = await import('#platform/store/table.ts');
  const { hashSecret } = await import('#platform/store/id.ts');
  const item = await get<Record<string, unknown>>(keys.token(hashSecret(session)));
  expect(item).toMatchObject({ kind: 'session', userId: api.userId, expiresAt: expect.any(Number) });
  expect(JSON.stringify(item)).not.toContain(session.slice(4));
});
