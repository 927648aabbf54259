import { randomBytes } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { grantsOfUser } from '../access/grants.ts';
import { type Answer, json, redirect } from '../api/answer.ts';
import { badRequest, unprocessable } from '../api/errors.ts';
import type { ApiRequest } from '../api/request.ts';
import { type Context, openRoute, type Route, route } from '../api/route.ts';
import { hashSecret } from '../store/id.ts';
import { keys } from '../store/keys.ts';
import { create, get, remove } from '../store/table.ts';
import { issuedFrom, oauthOptions, serverOf } from './access.ts';
import { callerOf } from './call.ts';
import { getClient, keepToken, type OauthClient, openClientSecret } from './connections.ts';
import { callbackPath } from './document.ts';
import { oauthClient } from './finder.ts';
import { forges } from './forges/forges.ts';

/**
 * A connection is authorized by a person at the forge (OAuth 2.0 with PKCE: RFC 6749 §4.1, RFC 7636). The browser that
 * began it keeps a cookie, so that nobody can be led to finish what somebody else began; the attempt is taken once.
 */

const goodForSeconds = 600;

interface Attempt {
  clientId: string;
  userId: string;
  verifier: string;
  redirectUri: string;
  /** SHA-256 of what the browser keeps. */
  browser: string;
  /** Seconds since 1970. */
  expiresAt: number;
}

const secure = ({ baseUrl }: ApiRequest): boolean => baseUrl.startsWith('https:');
const cookieName = (request: ApiRequest): string => (secure(request) ? '__Host-connect' : 'connect');
const cookie = (request: ApiRequest, value: string, seconds: number): string =>
  `${cookieName(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure(request) ? '; Secure' : ''}`;

const random = (): string => randomBytes(32).toString('base64url');

const connect = async ({ request, subject, principal }: Context<OauthClient>): Promise<Answer> => {
  const { key, sealedSecret, dialect } = subject;
  if (!dialect || !key || !sealedSecret) {
    throw unprocessable(
      '/data/attributes/key',
      'key: this OAuth client has no key and secret to authorize with. Set both, or use a personal access token',
    );
  }
  const [state, verifier, browser] = [random(), random(), random()];
  const attempt: Attempt = {
    clientId: subject.id,
    userId: principal.userId,
    verifier,
    redirectUri: `${request.baseUrl}${callbackPath(subject)}`,
    browser: hashSecret(browser),
    expiresAt: Math.floor(Date.now() / 1000) + goodForSeconds,
  };
  await create({ ...keys.oauthAttempt(hashSecret(state)), ...attempt });
  const { oauth: at } = forges[dialect];
  const url = new URL(`${subject.httpUrl}${at.authorize}`);
  const parameters = {
    response_type: 'code',
    client_id: key,
    redirect_uri: attempt.redirectUri,
    scope: at.scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const data = { id: subject.id, type: 'oauth-authorizations', attributes: { 'authorize-url': url.href } };
  return { ...json(200, { data }), cookies: [cookie(request, browser, goodForSeconds)] };
};

const notBegun = () =>
  badRequest(
    'This authorization was not begun in this browser, is older than 10 minutes, or was finished already. Begin it again on the page of the connection.',
  );

/** Good once, and in the browser that began it. @throws {ApiError} 400 */
const takeAttempt = async (request: ApiRequest): Promise<{ attempt: Attempt; client: OauthClient }> => {
  const key = keys.oauthAttempt(hashSecret((request.query.get('state') ?? '').slice(0, 200)));
  const attempt = await get<Attempt>(key);
  const kept = request.cookie(cookieName(request)) ?? '';
  if (!attempt || attempt.browser !== hashSecret(kept) || attempt.expiresAt < Date.now() / 1000) throw notBegun();
  const client = await getClient(attempt.clientId);
  if (!client || client.uuid !== request.params.uuid || !(await remove(key))) throw notBegun();
  return { attempt, client };
};

const redeem = async (request: ApiRequest, { verifier, redirectUri }: Attempt, client: OauthClient): Promise<void> => {
  const forge = forges[client.dialect as keyof typeof forges];
  const application = { client_id: client.key ?? '' };
  const server = serverOf(client, forge);
  // The state is in what is checked: the attempt was found by it.
  const checked = oauth.validateAuthResponse(server, application, request.query, request.query.get('state') ?? '');
  const by = oauth.ClientSecretPost((await openClientSecret(client)) ?? '');
  const options = oauthOptions(client);
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    application,
    by,
    checked,
    redirectUri,
    verifier,
    options,
  );
  const issued = issuedFrom(await oauth.processAuthorizationCodeResponse(server, application, answer));
  const account = await forge.whoAmI(callerOf({ client, secret: issued.token }));
  await keepToken(client, issued, account);
};

const callback = async (request: ApiRequest): Promise<Answer> => {
  const { attempt, client } = await takeAttempt(request);
  const page = `/app/${client.organization}/settings/version-control`;
  const done = (outcome: string): Answer => ({
    ...redirect(303, `${page}?${outcome}=${client.id}`),
    cookies: [cookie(request, '', 0)],
  });
  const granted = await grantsOfUser(attempt.userId).on({ organization: client.organization });
  if (!granted.has('connection:write')) return done('denied');
  try {
    await redeem(request, attempt, client);
  } catch {
    // What the forge says could have the code in it.
    return done('failed');
  }
  return done('connected');
};

export const oauthFlowRoutes: Route[] = [
  route('POST', '/oauth-clients/{oauthClient}/actions/connect', 'connection:write', oauthClient, connect),
];

/** Not below the API's prefix: the forge sends browsers here. */
export const callbackRoutes: Route[] = [openRoute('GET', '/auth/{uuid}/callback', 'anyone', callback)];
