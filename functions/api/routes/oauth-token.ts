import { connect, userOf } from '../../sign-in/people.ts';
import { beginSession } from '../../sign-in/session.ts';
import { type LoginGrant, redeemLoginCode } from '../../store/access/login-codes.ts';
import { createToken, removeSession } from '../../store/access/tokens.ts';
import { type Answer, done, json } from '../answer.ts';
import { authenticate } from '../auth.ts';
import type { ApiRequest } from '../request.ts';
import { openRoute, type Route } from '../route.ts';

/** Where codes become tokens (RFC 6749 §4.1.3): for Terraform an API token, for the web page a session. */

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

const exchange = async (request: ApiRequest): Promise<Answer> => {
  const sent = request.form();
  const given = (name: string) => sent.get(name) ?? '';
  if (given('grant_type') !== 'authorization_code') {
    return failed('unsupported_grant_type', 'Only authorization_code is.');
  }
  const redirectUri = given('redirect_uri');
  const grant = await redeemLoginCode(given('code'), { verifier: given('code_verifier'), redirectUri });
  if (!grant) return failed('invalid_grant', 'The code is unknown, used or too old. Start again.');
  const userId = await userIdOf(request, grant);
  if (userId === undefined) {
    return failed('invalid_grant', 'Somebody else signs in so: sign out, and sign in as that user to see who.');
  }
  if (redirectUri === 'page') {
    const { secret, expiresAt } = await beginSession(userId);
    const seconds = Math.floor((Date.parse(expiresAt) - Date.now()) / 1000);
    return json(200, { access_token: secret, token_type: 'bearer', expires_in: seconds }, plainJson);
  }
  const { secret } = await createToken(userId, 'terraform login', grant.tokenExpiresAt);
  return json(200, { access_token: secret, token_type: 'bearer' }, plainJson);
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
