import { signal } from '@preact/signals';
import { base, replaceAddress } from './location.ts';
import { authorization, ended, errorText, signIn } from './session.ts';

/**
 * Sign-in with the identity provider that the operator configured (resources/sign-in/): the page
 * creates a PKCE verifier, redirects, returns with a code in the fragment, and exchanges both for a session.
 */

/** Display name for the button; null without an identity provider. */
export const issuer = signal<string | null>(null);

/** True while the code of a redirect is being exchanged. */
export const isReturning = signal(false);

/** Why the identity could not be connected. */
export const failed = signal<string | undefined>(undefined);

export const askForIssuer = async (): Promise<void> => {
  const answer = await fetch(`${base}/oauth/issuer`);
  if (answer.ok) issuer.value = ((await answer.json()) as { name: string | null }).name;
};

const key = 'stepform-sign-in';

interface Departure {
  verifier: string;
  /** Address to return to after sign-in. */
  path: string;
  /** Connects the identity to the user of the current token. */
  connects: boolean;
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

export const depart = async ({ connects = false } = {}): Promise<void> => {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const departure: Departure = { verifier, path: location.pathname + location.search, connects };
  sessionStorage.setItem(key, JSON.stringify(departure));
  const parameters = {
    client_id: 'page',
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  };
  location.assign(`${base}/oauth/sign-in?${new URLSearchParams(parameters)}`);
};

/** Removes the code from the address, and restores the address from before sign-in. */
export const completeSignIn = async (): Promise<void> => {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return;
  const stored = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  const { verifier, path, connects } = JSON.parse(stored ?? '{}') as Partial<Departure>;
  replaceAddress(path ?? location.pathname);
  // Without this tab's state, the code may be an attacker's (login CSRF).
  if (verifier === undefined) return;
  isReturning.value = true;
  try {
    await signIn(await exchange(code, verifier, connects ? authorization() : {}));
  } catch (error) {
    if (connects) failed.value = errorText(error);
    else ended.value = `Sign-in failed: ${errorText(error)}`;
  }
  isReturning.value = false;
};

const exchange = (code: string, verifier: string, headers: Record<string, string>): Promise<string> =>
  sessionFor({ grant_type: 'authorization_code', code, code_verifier: verifier }, headers);

/** Prefix of one-time secrets (resources/users/one-time-secrets.ts). */
const oncePrefix = 'sfonce_';

/** Signs in with a typed token or one-time secret. @throws {Error} with the platform's message */
export const tokenOf = (typed: string): Promise<string> =>
  typed.startsWith(oncePrefix)
    ? sessionFor({ grant_type: 'urn:stepform:one-time-secret', secret: typed })
    : Promise.resolve(typed);

const sessionFor = async (grant: Record<string, string>, headers: Record<string, string> = {}): Promise<string> => {
  const sent = { ...grant, redirect_uri: 'page' };
  const answer = await fetch(`${base}/oauth/token`, { method: 'POST', headers, body: new URLSearchParams(sent) });
  const reply = (await answer.json()) as { access_token?: string; error_description?: string };
  if (!answer.ok || !reply.access_token)
    throw new Error(reply.error_description ?? 'The server returned no token. Try again.');
  return reply.access_token;
};
