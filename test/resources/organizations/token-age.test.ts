import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** `sso-max-token-age`: an organization rejects tokens of users whose last sign-in at the issuer is too old. */

const api = await startApi();
const members = await memberHelpers();
const people = await import('#resources/sign-in/people.ts');
const tokens = await import('#resources/users/tokens.ts');

let name: string;
beforeEach(async () => {
  name = uniqueName('strict');
  await api.post('organizations', { name, email: 'o@strict.test' });
});
afterEach(() => vi.useRealTimers());

const minutes = (count: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + count * 60_000 });
const limit = (age: number | null) => api.patch(`organizations/${name}`, { 'sso-max-token-age': age });
const seen = async (token: string) => (await api.get(`organizations/${name}`, { token })).status;

/** An invited member who has signed in at the issuer. */
const member = async () => {
  const subject = uniqueName('subject');
  const person = { issuer: 'https://issuer.test', subject, email: `${subject}@example.test`, emailVerified: true };
  await api.post(`organizations/${name}/organization-memberships`, { email: person.email });
  const { id } = await people.userOf(person);
  return { person, token: (await tokens.createToken(id, 'laptop')).secret };
};

describe('an organization with a maximum age of sign-ins', () => {
  it('refuses older tokens with the remedy, until their user signs in again', async () => {
    const { person, token } = await member();
    expect((await limit(60)).body.data.attributes['sso-max-token-age']).toBe(60);
    expect(await seen(token)).toBe(200);
    minutes(61);
    const refused = await api.get(`organizations/${name}`, { token });
    expect(detailOf(refused)).toEqual([401, expect.stringContaining('Sign in to the page once')]);
    expect((await api.get('organizations', { token })).status).toBe(401);
    await people.userOf(person);
    expect(await seen(token)).toBe(200);
  });

  it('also rejects old tokens of a member who joined later, until the maximum is removed', async () => {
    await limit(60);
    const { token } = await member();
    expect(await seen(token)).toBe(200);
    minutes(61);
    expect(await seen(token)).toBe(401);
    vi.useRealTimers();
    await limit(null);
    minutes(61);
    expect(await seen(token)).toBe(200);
  });

  it('keeps accepting tokens of users without an identity, of teams and of the organization', async () => {
    await limit(60);
    const { token } = await members.member(name);
    const team = (await api.post(`organizations/${name}/teams`, { name: 'ci' })).body.data.id;
    const ofTeam = (await api.post(`teams/${team}/authentication-token`)).body.data.attributes.token;
    minutes(100_000);
    expect([await seen(token), await seen(api.token), await seen(ofTeam)]).toEqual([200, 200, 200]);
  });

  it('still rejects an old token after its user has connected another identity', async () => {
    const { person, token } = await member();
    await limit(60);
    minutes(61);
    const { id } = (await api.get('account/details', { token })).body.data;
    const insider = uniqueName('insider');
    expect(await people.connect({ ...person, subject: insider, email: `${insider}@example.test` }, id)).toBe(true);
    expect(await seen(token)).toBe(401);
  });

  it('rejects an age that is not a positive whole number of minutes', async () => {
    for (const age of [0, 1.5, -1]) expect((await limit(age)).status).toBe(422);
  });
});
