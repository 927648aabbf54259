import { connect, userOf } from '../../sign-in/people.ts';
import { sessionEnd } from '../../sign-in/session.ts';
import { type LoginGrant, redeemLoginCode } from '../../store/access/login-codes.ts';
import { createToken } from '../../store/access/tokens.ts';
import { type Answer, json } from '../answer.ts';
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
  const isSession = redirectUri === 'page';
  const expiresAt = isSession ? await sessionEnd(userId) : grant.tokenExpiresAt;
  const { secret } = await createToken(userId, isSession ? 'signed in' : 'terraform login', expiresAt);
  return json(200, { access_token: secret, token_type: 'bearer' }, plainJson);
};

export const oauthTokenRoutes: Route[] = [openRoute('POST', '/oauth/token', 'anyone', exchange)];
