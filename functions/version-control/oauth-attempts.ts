import { randomBytes } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { badRequest } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { hashSecret } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, remove } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';

/**
 * Pending authorizations at a forge (OAuth 2.0 with PKCE: RFC 6749 §4.1, RFC 7636). The browser that started one
 * keeps a cookie, so that a user cannot be tricked into completing another user's; an attempt works once.
 */

const goodForSeconds = 600;

export interface Attempt {
  /** The OAuth client to authorize, or the GitHub App. */
  clientId: string;
  userId: string;
  /** The organization to whose page the browser returns. */
  organization: string;
  verifier: string;
  redirectUri: string;
  /** SHA-256 of the browser's cookie. */
  browser: string;
  /** Seconds since 1970. */
  expiresAt: number;
}

const secure = ({ baseUrl }: ApiRequest): boolean => baseUrl.startsWith('https:');
const cookieName = (request: ApiRequest): string => (secure(request) ? '__Host-connect' : 'connect');
const cookie = (request: ApiRequest, value: string, seconds: number): string =>
  `${cookieName(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure(request) ? '; Secure' : ''}`;

/** Removes the cookie. */
export const endedCookie = (request: ApiRequest): string => cookie(request, '', 0);

const random = (): string => randomBytes(32).toString('base64url');

interface Beginning extends Pick<Attempt, 'clientId' | 'userId' | 'organization' | 'redirectUri'> {
  /** URL of the forge's authorization page. */
  url: string;
  /** The client's id at the forge. */
  key: string;
  scope?: string;
}

/** Returns the URL for the browser, and its cookie. 1 write. */
export const beginAttempt = async (
  request: ApiRequest,
  { url: at, key, scope, ...about }: Beginning,
): Promise<{ url: string; cookie: string }> => {
  const [state, verifier, browser] = [random(), random(), random()];
  const attempt: Attempt = {
    ...about,
    verifier,
    browser: hashSecret(browser),
    expiresAt: expiryIn(goodForSeconds),
  };
  await create({ ...keys.oauthAttempt(hashSecret(state)), ...attempt });
  const url = new URL(at);
  const parameters = {
    response_type: 'code',
    client_id: key,
    redirect_uri: attempt.redirectUri,
    ...(scope ? { scope } : {}),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, cookie: cookie(request, browser, goodForSeconds) };
};

const notBegun = () =>
  badRequest(
    'This authorization was not begun in this browser, is older than 10 minutes, or was finished already. Begin it again on the page of the connection.',
  );

/**
 * Works once, and only in the browser that started it.
 * @param find returns the client to authorize; undefined when the callback address belongs to another one
 * @throws {ApiError} 400
 */
export const takeAttempt = async <T>(
  request: ApiRequest,
  find: (attempt: Attempt) => Promise<T | undefined>,
): Promise<{ attempt: Attempt; found: T }> => {
  const key = keys.oauthAttempt(hashSecret((request.query.get('state') ?? '').slice(0, 200)));
  const attempt = await get<Attempt>(key);
  const kept = request.cookie(cookieName(request)) ?? '';
  if (!attempt || attempt.browser !== hashSecret(kept) || attempt.expiresAt < Date.now() / 1000) throw notBegun();
  const found = await find(attempt);
  if (!found || !(await remove(key))) throw notBegun();
  return { attempt, found };
};
