import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';

/** A user's e-mail address is the one that the issuer verified, never one that the user only entered. */

const api = await startApi();
const people = await import('#resources/sign-in/people.ts');
const tokens = await import('#resources/users/tokens.ts');

const person = (email: string, emailVerified = true) => ({
  issuer: 'https://issuer.test',
  subject: uniqueName('subject'),
  email,
  emailVerified,
});

const signIn = async (who: ReturnType<typeof person>) => {
  const { id } = await people.userOf(who);
  return { id, token: (await tokens.createToken(id, '')).secret };
};

const addressesOf = async (token: string) => {
  const { email, 'unconfirmed-email': unconfirmed } = (await api.get('account/details', { token })).body.data
    .attributes;
  return { email, unconfirmed };
};

const enter = (token: string, email: string) =>
  api.call('PATCH', 'account/update', { token, body: { data: { attributes: { email } } } });

describe('an e-mail address', () => {
  it('that a user enters stays unconfirmed until the issuer verifies it', async () => {
    const who = person('mallory@example.test');
    const { id, token } = await signIn(who);
    expect((await enter(token, 'ceo@example.test')).status).toBe(200);
    expect(await addressesOf(token)).toEqual({ email: 'mallory@example.test', unconfirmed: 'ceo@example.test' });
    const { getUser } = await import('#resources/users/users.ts');
    expect((await getUser(id))?.email).toBe('mallory@example.test');
    await people.connect(person('CEO@example.test'.toLowerCase()), id);
    expect(await addressesOf(token)).toEqual({ email: 'ceo@example.test', unconfirmed: null });
  });

  it('that the issuer verified before is changed back at once', async () => {
    const { id, token } = await signIn(person('first@example.test'));
    await people.connect(person('second@example.test'), id);
    expect((await enter(token, 'second@example.test')).status).toBe(200);
    expect(await addressesOf(token)).toEqual({ email: 'second@example.test', unconfirmed: null });
  });

  it('without verification is not the address of a new user', async () => {
    const { token } = await signIn(person('boss@example.test', false));
    expect(await addressesOf(token)).toEqual({ email: '', unconfirmed: null });
  });

  it('is removed from a user when the issuer verifies it for another user', async () => {
    const former = await signIn(person('desk@example.test'));
    const present = await signIn(person('desk@example.test'));
    expect((await addressesOf(present.token)).email).toBe('desk@example.test');
    expect((await addressesOf(former.token)).email).toBe('');
  });

  it.each(['\u212Arook@example.test', 'krook@\u212Ample.test'])(
    'does not match an address that differs only by Unicode case folding: %s',
    async (odd) => {
      const plain = odd.replace('\u212A', 'k');
      const invitation = await api.post('organizations/acme/organization-memberships', { email: plain });
      expect(invitation.status).toBe(201);
      const { token } = await signIn(person(odd));
      expect((await api.get('organizations/acme', { token })).status).toBe(404);
      expect((await api.post('organizations/acme/organization-memberships', { email: odd })).status).toBe(201);
      const { token: invited } = await signIn(person(plain.toUpperCase().toLowerCase()));
      expect((await api.get('organizations/acme', { token: invited })).status).toBe(200);
    },
  );
});
