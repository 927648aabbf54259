import { base } from './location.ts';

/**
 * One session for all tabs: a new tab asks those that are signed in, and signing out ends all of them.
 *
 * The token goes through a BroadcastChannel, which reaches pages of this very origin and nobody else: no other port or
 * subdomain, as a cookie would; and no request carries it by itself, so that there is nothing to forge from a link or
 * another site. It is never in lasting storage: with the last tab the session is gone from this browser.
 */

export interface HeldToken {
  token: string;
  /** When it was signed in with, in milliseconds. */
  since: number;
}

type Message =
  | { says: 'ask' }
  | ({ says: 'signed-in' } & HeldToken)
  /** Without a token: any. */
  | { says: 'ended'; token?: string; why?: string };

const name = `stepform-session ${base}`;
const channel = new BroadcastChannel(name);
const tell = (message: Message): void => channel.postMessage(message);

const key = 'stepform-token';
/** A tab that the browser had put away heard of no end, and its storage outlives it. */
const endedKey = `stepform-signed-out ${base}`;

const read = (): HeldToken | undefined => {
  try {
    const held = JSON.parse(sessionStorage.getItem(key) ?? 'null') as HeldToken | null;
    if (held && held.since > Number(localStorage.getItem(endedKey) ?? 0)) return held;
  } catch {
    // Not what this page writes.
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

/** How long a tab may take to answer; whoever has none open waits as long for the form. */
const answerMs = 250;

/**
 * @param onToken another tab is signed in, or anew
 * @param onEnd it was ended in another tab
 * @returns resolves when it is known whether another tab is signed in
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

/** A token is no longer valid, in every tab. */
export const broadcastInvalidToken = (token: string, why: string): void => {
  keep(undefined);
  tell({ says: 'ended', token, why });
};
