import { base } from './location.ts';

/**
 * One session for all tabs: a new tab asks the signed-in ones, and signing out ends all of them.
 *
 * The token goes through a BroadcastChannel, which reaches only pages of this origin: no other port or
 * subdomain, as a cookie would; and browsers attach it to no request, so that CSRF from a link or
 * another site is impossible. It is never stored persistently: closing the last tab ends the session in this browser.
 */

export interface HeldToken {
  token: string;
  /** Time of sign-in, in milliseconds. */
  since: number;
}

type Message =
  | { says: 'ask' }
  | ({ says: 'signed-in' } & HeldToken)
  /** Absent: any token. */
  | { says: 'ended'; token?: string; why?: string };

const name = `stepform-session ${base}`;
const channel = new BroadcastChannel(name);
const tell = (message: Message): void => channel.postMessage(message);

const key = 'stepform-token';
/** A suspended tab misses a sign-out, but its session storage survives. */
const endedKey = `stepform-signed-out ${base}`;

const read = (): HeldToken | undefined => {
  try {
    const held = JSON.parse(sessionStorage.getItem(key) ?? 'null') as HeldToken | null;
    if (held && held.since > Number(localStorage.getItem(endedKey) ?? 0)) return held;
  } catch {
    // Not written by this page.
  }
  sessionStorage.removeItem(key);
  return undefined;
};

let held = read();

export const heldAtFirst = held?.token;

const keep = (one: HeldToken | undefined): void => {
  held = one;
  if (one) sessionStorage.setItem(key, JSON.stringify(one));
  else sessionStorage.removeItem(key);
};

/** How long to wait for other tabs before the sign-in form is shown, in ms. */
const answerMs = 250;

/**
 * @param onToken another tab signed in
 * @param onEnd another tab signed out
 * @returns resolves once it is known whether another tab is signed in
 */
export const joinTabs = (onToken: (token: string) => void, onEnd: (why?: string) => void): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.says === 'ask' && held) tell({ says: 'signed-in', ...held });
    if (data.says === 'signed-in' && (!held || held.since < data.since)) {
      keep({ token: data.token, since: data.since });
      onToken(data.token);
      resolve();
    }
    if (data.says === 'ended' && held && (data.token ?? held.token) === held.token) {
      keep(undefined);
      onEnd(data.why);
    }
  };
  if (held) return Promise.resolve();
  tell({ says: 'ask' });
  setTimeout(resolve, answerMs);
  return promise;
};

export const broadcastSignIn = (token: string): void => {
  const one = { token, since: Date.now() };
  keep(one);
  tell({ says: 'signed-in', ...one });
};

/** Signs out in every tab, including suspended ones. */
export const broadcastSignOut = (): void => {
  keep(undefined);
  localStorage.setItem(endedKey, String(Date.now()));
  tell({ says: 'ended' });
};

/** Tells all tabs that a token is no longer valid. */
export const broadcastInvalidToken = (token: string, why: string): void => {
  keep(undefined);
  tell({ says: 'ended', token, why });
};
