import { connect, userOf } from '../../../sign-in/people.ts';
import { beginSession } from '../../../sign-in/session.ts';
import { type LoginGrant, redeemLoginCode } from '../../../store/access/login-codes.ts';
import { useOneTimeSecret } from '../../../store/access/one-time-secrets.ts';
import { createToken, removeSession } from '../../../store/access/tokens.ts';
import { type Answer, done, json } from '../../answer.ts';
import { deedOf, inTrails } from '../../audit.ts';
import { authenticate } from '../../permissions/auth.ts';
import type { ApiRequest } from '../../request.ts';
import { openRoute, type Route } from '../../route.ts';

/** Where codes become tokens (RFC 6749 §4.1.3), and one-time secrets: for the web page a session, else an API token. */

const oneTimeGrant = 'urn:stepform:one-time-secret';

const plainJson = 'application/json';
const failed = (error: string, description: string): Answer =>
  json(400, { error, error_description: description }, plainJson);

/** Whoever is signed in already becomes that person; everybody else is the user who is. */
const userIdOf = async (request: ApiRequest, { by }: LoginGrant): Promise<string | undefined> => {
  if ('userId' in by) return by.userId;
  if (request.header('authorization') === undefined) return (await userOf(by.person)).id;
  const { userId } = await authenticate(request);
  return (await connect(by.person, userId)) ? userId : undefined;
};

/** For the page a session, which its `redirect_uri` asks for; else an API token. */
const issue = async (userId: string, isPage: boolean, description: string, until: string | null) => {
  if (!isPage) {
    const { secret } = await createToken(userId, description, until);
    return json(200, { access_token: secret, token_type: 'bearer' }, plainJson);
  }
  const { secret, expiresAt } = await beginSession(userId);
  const seconds = Math.floor((Date.parse(expiresAt) - Date.now()) / 1000);
  return json(200, { access_token: secret, token_type: 'bearer', expires_in: seconds }, plainJson);
};

const deed = deedOf('POST', '/authentication-tokens');
const tokenFor = (
  request: ApiRequest,
  userId: string,
  ...how: [isPage: boolean, description: string, until: string | null]
) => inTrails({ request, principal: { userId, kind: 'user' }, deed }, () => issue(userId, ...how));

const exchangeCode = async (request: ApiRequest, given: (name: string) => string): Promise<Answer> => {
  const redirectUri = given('redirect_uri');
  const grant = await redeemLoginCode(given('code'), { verifier: given('code_verifier'), redirectUri });
  if (!grant) return failed('invalid_grant', 'The code is unknown, used or too old. Start again.');
  const userId = await userIdOf(request, grant);
  if (userId === undefined) {
    return failed('invalid_grant', 'Somebody else signs in so: sign out, and sign in as that user to see who.');
  }
  return tokenFor(request, userId, redirectUri === 'page', 'terraform login', grant.tokenExpiresAt);
};

const anotherOne =
  'The operator of this platform gets another one by invoking its Bootstrap function with "rotate": true.';

/** What the operator's Bootstrap function hands out. */
const exchangeSecret = async (request: ApiRequest, given: (name: string) => string): Promise<Answer> => {
  const use = await useOneTimeSecret(given('secret').trim());
  if ('userId' in use) return tokenFor(request, use.userId, given('redirect_uri') === 'page', 'One-time secret', null);
  if (use.refused === 'used') {
    return failed(
      'invalid_grant',
      `This one-time secret was used at ${use.usedAt}, and is good for one sign-in only. If that was not you, somebody else is signed in as you: tell the operator now. ${anotherOne}`,
    );
  }
  const why = use.refused === 'expired' ? 'is too old' : 'is not known, or there is a newer one';
  return failed('invalid_grant', `This one-time secret ${why}. ${anotherOne}`);
};

const exchange = async (request: ApiRequest): Promise<Answer> => {
  const sent = request.form();
  const given = (name: string) => sent.get(name) ?? '';
  switch (given('grant_type')) {
    case 'authorization_code':
      return exchangeCode(request, given);
    case oneTimeGrant:
      return exchangeSecret(request, given);
    default:
      return failed('unsupported_grant_type', `Only authorization_code and ${oneTimeGrant} are.`);
  }
};

/**
 * RFC 7009, for sessions: a token that was pasted goes on being good for what it is there for. As the RFC wants, the
 * answer does not tell whether there was one.
 */
const revoke = async ({ form }: ApiRequest): Promise<Answer> => {
  await removeSession(form().get('token') ?? '');
  return done();
};

export const oauthTokenRoutes: Route[] = [
  openRoute('POST', '/oauth/token', 'anyone', exchange),
  openRoute('POST', '/oauth/revoke', 'anyone', revoke),
];
