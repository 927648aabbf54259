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
  /** ID of the SAML request, sent to the identity provider, and back in the assertion. */
  requestId: string;
  /** PKCE verifier (RFC 7636), sent when the code is redeemed. */
  verifier: string;
}

const attemptOf = (seed: string, request: AuthorizationRequest): Attempt => ({
  asking: request,
  state: derived(seed, 'state'),
  nonce: derived(seed, 'nonce'),
  // An XML ID must not begin with a digit.
  requestId: `_${derived(seed, 'request')}`,
  verifier: derived(seed, 'verifier'),
});

/** Over TLS, the `__Host-` prefix makes browsers accept the cookie from this host only (RFC 6265bis). */
export const cookieName = (secure: boolean): string => (secure ? '__Host-sign-in' : 'sign-in');

interface Kept {
  /** The browser uses TLS. */
  secure: boolean;
  /**
   * `Lax` is sent with the redirect from an issuer, `None` also with a form that another site posts. Browsers accept
   * `None` over TLS only, and from this machine.
   */
  sameSite: 'Lax' | 'None';
}

const cookieOf = ({ secure, sameSite }: Kept, value: string, seconds: number): string =>
  [
    `${cookieName(secure)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}`,
    ...(secure || sameSite === 'None' ? ['Secure'] : []),
  ].join('; ');

export const forgottenCookie = (secure: boolean): string => cookieOf({ secure, sameSite: 'Lax' }, '', 0);

export const beginAttempt = (request: AuthorizationRequest, kept: Kept): Attempt & { cookie: string } => {
  const seed = randomBytes(32).toString('base64url');
  const expiresAt = Date.now() + goodForSeconds * 1000;
  const value = Buffer.from(JSON.stringify({ seed, asking: request, expiresAt })).toString('base64url');
  return { ...attemptOf(seed, request), cookie: cookieOf(kept, value, goodForSeconds) };
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
