import { signal } from '@preact/signals';
import { base, replaceAddress } from './location.ts';
import { authorization, call, ended, errorText, joined, signedIn, signIn } from './session.ts';

/**
 * Sign-in with an identity provider that the operator configured (resources/sign-in/): the page
 * creates a PKCE verifier, redirects, returns with a code in the fragment, and exchanges both for a session.
 */

/** A way to sign in: the name of its identity provider, and the route that begins it. */
interface Way {
  name: string;
  path: string;
}

/** One button each; empty without an identity provider. */
export const ways = signal<Way[]>([]);

/** True while the code of a redirect is being exchanged. */
export const isReturning = signal(false);

/** Why the identity could not be connected. */
export const failed = signal<string | undefined>(undefined);

export const askForWays = async (): Promise<void> => {
  const answer = await fetch(`${base}/oauth/ways`);
  if (answer.ok) ways.value = ((await answer.json()) as { ways: Way[] }).ways;
};

const key = 'stepform-sign-in';

interface Departure {
  verifier: string;
  /** Address to return to after sign-in. */
  path: string;
  /** Connects the identity to the user of the current token. */
  connects: boolean;
  /** In a tab of its own, for another one that keeps typed text. */
  apart: boolean;
  /** API path that takes the code instead: it proves an account elsewhere, and signs no one in. */
  proves?: string | undefined;
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

export const depart = async (
  { path }: Pick<Way, 'path'>,
  options: Partial<Omit<Departure, 'verifier' | 'path'>> = {},
): Promise<void> => {
  const { connects = false, apart = false, proves } = options;
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const departure: Departure = { verifier, path: location.pathname + location.search, connects, apart, proves };
  sessionStorage.setItem(key, JSON.stringify(departure));
  const parameters = {
    client_id: 'page',
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  };
  const address = `${base}${path}?${new URLSearchParams(parameters)}`;
  // The new tab starts with a copy of this tab's storage.
  if (apart && window.open(address)) return sessionStorage.removeItem(key);
  location.assign(address);
};

/** The user began at an identity provider that sent them here (resources/sign-in/saml/unsolicited.ts). */
const beginAt = async (path: string): Promise<void> => {
  replaceAddress(location.pathname);
  await Promise.all([askForWays(), joined]);
  const way = ways.value.find((offered) => offered.path === path);
  if (way && !signedIn.value) await depart(way);
};

/** Removes the code from the address, and restores the address from before sign-in. */
export const completeSignIn = async (): Promise<void> => {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const begun = fragment.get('sign-in');
  if (begun !== null) return beginAt(begun);
  const code = fragment.get('code');
  if (code === null) return;
  const stored = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  const { verifier, path, connects, apart, proves } = JSON.parse(stored ?? '{}') as Partial<Departure>;
  replaceAddress(path ?? location.pathname);
  // Without this tab's state, the code may be an attacker's (login CSRF).
  if (verifier === undefined) return;
  isReturning.value = true;
  try {
    if (proves) {
      await joined;
      await call('PUT', proves, { data: { attributes: { code, 'code-verifier': verifier } } });
    } else await signIn(await exchange(code, verifier, connects ? authorization() : {}));
    if (apart) window.close();
  } catch (error) {
    if (connects || proves) failed.value = errorText(error);
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
