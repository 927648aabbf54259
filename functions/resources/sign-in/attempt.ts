import { createHmac, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type AuthorizationRequest, authorizationRequest } from './authorization-request.ts';

/**
 * A sign-in in progress, stored only in a cookie of the browser that began it. A victim who is led to the callback
 * with an attacker's code has no matching cookie. One seed yields all unguessable values, so that unauthenticated
 * requests write nothing.
 */

const attemptSchema = v.object({ seed: v.string(), asking: authorizationRequest, expiresAt: v.number() });

/** Time limit for signing in at the issuer. */
const goodForSeconds = 600;

const derived = (seed: string, purpose: string): string =>
  createHmac('sha256', seed).update(purpose).digest('base64url');

export interface Attempt {
  asking: AuthorizationRequest;
  /** Sent to the issuer and back, by the browser. */
  state: string;
  /** Sent to the issuer, and back in the ID token. */
  nonce: string;
  /** PKCE verifier (RFC 7636), sent when the code is redeemed. */
  verifier: string;
}

const attemptOf = (seed: string, request: AuthorizationRequest): Attempt => ({
  asking: request,
  state: derived(seed, 'state'),
  nonce: derived(seed, 'nonce'),
  verifier: derived(seed, 'verifier'),
});

/** Over TLS, the `__Host-` prefix makes browsers accept the cookie from this host only (RFC 6265bis). */
export const cookieName = (secure: boolean): string => (secure ? '__Host-sign-in' : 'sign-in');

const cookieOf = (secure: boolean, value: string, seconds: number): string =>
  `${cookieName(secure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

export const forgottenCookie = (secure: boolean): string => cookieOf(secure, '', 0);

export const beginAttempt = (request: AuthorizationRequest, secure: boolean): Attempt & { cookie: string } => {
  const seed = randomBytes(32).toString('base64url');
  const expiresAt = Date.now() + goodForSeconds * 1000;
  const value = Buffer.from(JSON.stringify({ seed, asking: request, expiresAt })).toString('base64url');
  return { ...attemptOf(seed, request), cookie: cookieOf(secure, value, goodForSeconds) };
};

/** The attempt in the cookie; undefined when it is invalid or expired. */
export const readAttempt = (cookie: string | undefined): Attempt | undefined => {
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(cookie ?? '', 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  const { success, output } = v.safeParse(attemptSchema, document);
  return success && output.expiresAt > Date.now() ? attemptOf(output.seed, output.asking) : undefined;
};
