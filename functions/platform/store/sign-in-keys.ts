import { type Key, ofUser, record } from './key.ts';

/**
 * The part of the table's layout (keys.ts) for sign-in.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `USER#<id>` | `IDENTITY#<sha-256>` | → identity (issuer and subject) of the user |
 * | | `SESSION#<sha-256>` | → session of the user that no identity started |
 * | `LOGIN#<sha-256>` | `LOGIN` | code of a sign-in or `terraform login` in progress |
 * | `IDENTITY#<sha-256>` | `IDENTITY` | → user with this identity |
 * | | `SESSION#<sha-256>` | → session of this identity |
 * | `SSOGROUP#<sha-256>` | `TEAMS` | → teams that the identity provider's group maps to |
 * | `SAML` | `SETTINGS` | settings of SAML |
 * | `ASSERTION#<sha-256>` | `ASSERTION` | used SAML assertion, until it is no longer valid |
 */
export const signInKeys = {
  loginCode: record('LOGIN'),
  identity: record('IDENTITY'),
  identityOfUser: (userId: string, hash: string) => ofUser(userId, `IDENTITY#${hash}`),
  identitySession: (hash: string, tokenHash: string): Key => ({ pk: `IDENTITY#${hash}`, sk: `SESSION#${tokenHash}` }),
  userSession: (userId: string, tokenHash: string) => ofUser(userId, `SESSION#${tokenHash}`),
  ssoGroup: (hash: string): Key => ({ pk: `SSOGROUP#${hash}`, sk: 'TEAMS' }),
  samlSettings: { pk: 'SAML', sk: 'SETTINGS' } satisfies Key,
  usedAssertion: record('ASSERTION'),
};
