import { type Answer, done, json } from '#api/answer.ts';
import { auditActionOf } from '#api/audit-action.ts';
import type { Authority } from '#api/authority.ts';
import type { Principal } from '#api/permissions/principal.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { withAuditInAllOrganizations } from '#resources/audit/trail.ts';
import { identityHash } from '#resources/users/identities.ts';
import { type LoginGrant, redeemLoginCode } from '#resources/users/login-codes.ts';
import { useOneTimeSecret } from '#resources/users/one-time-secrets.ts';
import type { Person } from '#resources/users/person.ts';
import { createToken, removeSession } from '#resources/users/tokens.ts';
import { SignInError } from './errors.ts';
import { connect, userOf } from './people.ts';
import { beginSession } from './session.ts';

/**
 * Exchanges codes (RFC 6749 §4.1.3) and one-time secrets for tokens: a session for the web page, otherwise an API
 * token.
 */

const oneTimeGrant = 'urn:stepform:one-time-secret';

const plainJson = 'application/json';
const failed = (error: string, description: string): Answer =>
  json(400, { error, error_description: description }, plainJson);

const connecting = auditActionOf('POST', '/account/identities');

/** Connects the identity to the caller's account; recorded in the audit trails of the caller's organizations. */
const connectTo = async (request: ApiRequest, principal: Principal, person: Person): Promise<Answer> => {
  if (principal.kind !== 'user') {
    return failed('invalid_grant', 'Only users can sign in, not team or organization tokens. Sign in as a user first.');
  }
  const { userId } = principal;
  return withAuditInAllOrganizations({ request, principal, auditAction: connecting }, async () =>
    (await connect(person, userId))
      ? done()
      : failed('invalid_grant', 'This identity belongs to another user. Sign out, then sign in with it to see which.'),
  );
};

/** A request with a session connects the identity to its user; other requests sign in as the identity's user. */
const userIdOf = async (request: ApiRequest, { by }: LoginGrant, authority: Authority): Promise<string | Answer> => {
  if ('userId' in by) return by.userId;
  if ('slack' in by) return failed('invalid_grant', 'This code connects a Slack account. It signs no one in.');
  if (request.header('authorization') === undefined) {
    try {
      return (await userOf(by.person)).id;
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      return failed('invalid_grant', error.message);
    }
  }
  const principal = await authority.authenticate(request);
  const answer = await connectTo(request, principal, by.person);
  return answer.statusCode === 200 ? principal.userId : answer;
};

interface How {
  /** Description of an API token. */
  description: string;
  until?: string | null;
  /** The person who signed in. */
  person?: Person;
}

/** A session if the page's `redirect_uri` was used, otherwise an API token. */
const issue = async (userId: string, isPage: boolean, { description, until = null, person }: How) => {
  if (!isPage) {
    const { secret } = await createToken(userId, description, until);
    return json(200, { access_token: secret, token_type: 'bearer' }, plainJson);
  }
  const { secret, expiresAt } = await beginSession(userId, person && identityHash(person), person?.sessionEndsAt);
  const seconds = Math.floor((Date.parse(expiresAt) - Date.now()) / 1000);
  return json(200, { access_token: secret, token_type: 'bearer', expires_in: seconds }, plainJson);
};

const auditAction = auditActionOf('POST', '/authentication-tokens');
const tokenFor = (request: ApiRequest, userId: string, isPage: boolean, how: How) =>
  withAuditInAllOrganizations(
    { request, principal: { userId, kind: 'user', ...(how.person === undefined ? {} : { sso: true }) }, auditAction },
    () => issue(userId, isPage, how),
  );

const exchangeCode = async (
  request: ApiRequest,
  field: (name: string) => string,
  authority: Authority,
): Promise<Answer> => {
  const redirectUri = field('redirect_uri');
  const grant = await redeemLoginCode(field('code'), { verifier: field('code_verifier'), redirectUri });
  if (!grant) return failed('invalid_grant', 'The code is unknown, used or expired. Start again.');
  const userId = await userIdOf(request, grant, authority);
  if (typeof userId !== 'string') return userId;
  const person = 'person' in grant.by ? grant.by.person : undefined;
  const how = { description: 'terraform login', until: grant.tokenExpiresAt, person };
  return tokenFor(request, userId, redirectUri === 'page', how);
};

const anotherOne =
  'The operator of this platform can create another one by invoking its Bootstrap function with "rotate": true.';

/** Secret from the operator's Bootstrap function. */
const exchangeSecret = async (request: ApiRequest, field: (name: string) => string): Promise<Answer> => {
  const use = await useOneTimeSecret(field('secret').trim());
  if ('userId' in use) {
    return tokenFor(request, use.userId, field('redirect_uri') === 'page', { description: 'One-time secret' });
  }
  if (use.refused === 'used') {
    return failed(
      'invalid_grant',
      `This one-time secret was used at ${use.usedAt}, and works only once. If that was not you, someone else is signed in as you: tell the operator now. ${anotherOne}`,
    );
  }
  const why = use.refused === 'expired' ? 'has expired' : 'is unknown or was replaced by a newer one';
  return failed('invalid_grant', `This one-time secret ${why}. ${anotherOne}`);
};

const exchange = async (request: ApiRequest, authority: Authority): Promise<Answer> => {
  const sent = request.form();
  const field = (name: string) => sent.get(name) ?? '';
  switch (field('grant_type')) {
    case 'authorization_code':
      return exchangeCode(request, field, authority);
    case oneTimeGrant:
      return exchangeSecret(request, field);
    default:
      return failed('unsupported_grant_type', `Supported: authorization_code and ${oneTimeGrant}.`);
  }
};

/**
 * Token revocation (RFC 7009), for sessions only: a pasted API token stays valid for its other uses. As the RFC
 * requires, the response does not reveal whether the token existed.
 */
const revoke = async ({ form }: ApiRequest): Promise<Answer> => {
  await removeSession(form().get('token') ?? '');
  return done();
};

export const oauthTokenRoutes: Route[] = [
  openRoute('POST', '/oauth/token', 'anyone', exchange),
  openRoute('POST', '/oauth/revoke', 'anyone', revoke),
];
