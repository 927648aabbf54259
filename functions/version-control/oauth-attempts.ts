import { randomBytes } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { badRequest } from '../api/errors.ts';
import type { ApiRequest } from '../api/request.ts';
import { hashSecret } from '../store/id.ts';
import { keys } from '../store/keys.ts';
import { create, get, remove } from '../store/table.ts';

/**
 * Authorizations by a person at a forge that are under way (OAuth 2.0 with PKCE: RFC 6749 §4.1, RFC 7636). The browser that
 * began one keeps a cookie, so that nobody can be led to finish what somebody else began; an attempt is taken once.
 */

const goodForSeconds = 600;

export interface Attempt {
  /** What is authorized: an OAuth client, or the GitHub App. */
  clientId: string;
  userId: string;
  /** Whose page it goes on at. */
  organization: string;
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

/** What takes the cookie away. */
export const endedCookie = (request: ApiRequest): string => cookie(request, '', 0);

const random = (): string => randomBytes(32).toString('base64url');

interface Beginning extends Pick<Attempt, 'clientId' | 'userId' | 'organization' | 'redirectUri'> {
  /** Where people authorize. */
  url: string;
  /** The client's id at the forge. */
  key: string;
  scope?: string;
}

/** 1 write. Where to send the browser, and what it keeps. */
export const beginAttempt = async (
  request: ApiRequest,
  { url: at, key, scope, ...about }: Beginning,
): Promise<{ url: string; cookie: string }> => {
  const [state, verifier, browser] = [random(), random(), random()];
  const attempt: Attempt = {
    ...about,
    verifier,
    browser: hashSecret(browser),
    expiresAt: Math.floor(Date.now() / 1000) + goodForSeconds,
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
 * Good once, and in the browser that began it.
 * @param find what is authorized; undefined when the address is another's
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
