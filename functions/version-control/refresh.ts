import * as v from 'valibot';
import type { fetchBy } from '#platform/net/outbound/fetch.ts';
import type { IssuedToken } from './connections.ts';

/**
 * Exchanges a refresh token (RFC 6749 §6). Without oauth4webapi, which only browser authorizations need: it would add
 * 14 KB to every function that calls a forge.
 */

const issued = v.object({
  access_token: v.pipe(v.string(), v.minLength(1)),
  token_type: v.pipe(v.string(), v.regex(/^bearer$/i)),
  refresh_token: v.optional(v.pipe(v.string(), v.minLength(1))),
  expires_in: v.optional(v.pipe(v.union([v.number(), v.string()]), v.transform(Number), v.finite(), v.minValue(0))),
});

/** GitHub reports refusals with status 200. */
const refusal = v.object({ error: v.pipe(v.string(), v.minLength(1)) });

/** The forge does not issue another token; `message` is its error code. */
export class RefreshRefusedError extends Error {
  override name = 'RefreshRefusedError';
}

interface Refreshing {
  /** Sends the requests. */
  fetch: ReturnType<typeof fetchBy>;
  tokenEndpoint: string;
  clientId: string;
  clientSecret: string;
  refreshToken: string;
}

/** Expiry time of a token with this lifetime; undefined if it does not expire. */
export const expiryOf = (seconds: number | undefined): string | undefined =>
  seconds ? new Date(Date.now() + seconds * 1000).toISOString() : undefined;

/** @throws {RefreshRefusedError} with the forge's error code @throws {Error} without a valid OAuth 2.0 response */
export const refreshToken = async (request: Refreshing): Promise<IssuedToken> => {
  const answer = await request.fetch(request.tokenEndpoint, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: request.refreshToken,
      client_id: request.clientId,
      client_secret: request.clientSecret,
    }),
  });
  if (answer.status >= 500) throw new Error(`token endpoint answered ${answer.status}`);
  const body: unknown = await answer.json();
  if (v.is(refusal, body)) throw new RefreshRefusedError(body.error);
  if (answer.status !== 200) throw new Error(`token endpoint answered ${answer.status}`);
  const { access_token: token, refresh_token: next, expires_in: seconds } = v.parse(issued, body);
  const expiresAt = expiryOf(seconds);
  return { token, ...(next ? { refreshToken: next } : {}), ...(expiresAt ? { expiresAt } : {}) };
};
