import { computed, signal } from '@preact/signals';
import { ApiError, Client, type Document, type Listed, type Resource } from '../client/client.ts';
import type { Attributes, ResourceType } from '../client/documents.ts';
import { requestEnvironments } from './environments-client.ts';
import { base } from './location.ts';
import { broadcastInvalidToken, broadcastSignIn, broadcastSignOut, heldAtFirst, joinTabs } from './tabs.ts';

export { related } from '../client/client.ts';

/**
 * The reader's token: an API token that was pasted, or the session of who signed in. It lives in the session storage of
 * this page's tabs (tabs.ts), and goes nowhere but into the Authorization header of calls to the same origin: never into
 * an address, never into lasting storage.
 */

const token = signal(heldAtFirst);

/** Why the reader has to sign in again; undefined at first. */
export const ended = signal<string | undefined>(undefined);
export const account = signal<Resource<'users'> | undefined>(undefined);
export const banner = signal<Attributes['admin-banners'] | undefined>(undefined);
export const signedIn = computed(() => token.value !== undefined);

/** How the reader is named in a call that is not one of the API's. */
export const authorization = (): Record<string, string> =>
  token.peek() === undefined ? {} : { authorization: `Bearer ${token.peek()}` };

const client = computed(() => new Client(base, token.value ?? ''));

/** Begins the tokens of sessions (people/accounts/tokens.ts). */
const sessionPrefix = 'sfs_';
export const isSession = computed(() => token.value?.startsWith(sessionPrefix) ?? false);

/** A session ends everywhere; a token that was pasted goes on being good for what it is there for. */
const revoke = (secret: string): void => {
  const body = new URLSearchParams({ token: secret });
  // What is not heard of in time ends by itself.
  fetch(`${base}/oauth/revoke`, { method: 'POST', body, keepalive: true }).catch(() => {});
};

const forget = (why?: string): void => {
  token.value = undefined;
  account.value = undefined;
  ended.value = why;
};

/** In this tab and all others. */
export const signOut = (): void => {
  if (isSession.peek()) revoke(token.peek() ?? '');
  broadcastSignOut();
  forget();
};

/** Whose token it is. */
export const knowAccount = async (): Promise<void> => {
  const askedWith = token.peek();
  // A dead token has signed out by itself; for anything else the views say so.
  const answer = await call<Resource<'users'>>('GET', '/account/details').catch(() => undefined);
  if (!answer || askedWith !== token.peek()) return;
  account.value = answer.data;
  banner.value = answer.meta?.banner;
};

/** Whether it is being found out if another tab is signed in. */
export const joining = signal(true);
joinTabs(
  (secret) => {
    token.value = secret;
    ended.value = undefined;
    // Of the previous user.
    if (account.peek()) void knowAccount();
  },
  (why) => forget(why),
).then(() => {
  joining.value = false;
});

/** @throws {ApiError} 401 for a token that is none */
export const signIn = async (secret: string): Promise<void> => {
  const { data, meta } = await new Client(base, secret).call('GET', '/account/details');
  broadcastSignIn(secret);
  account.value = data;
  banner.value = meta?.banner;
  ended.value = undefined;
  token.value = secret;
};

/** A dead token signs out. */
const asReader = async <T>(send: () => Promise<T>): Promise<T> => {
  const used = token.value;
  try {
    return await send();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401 && used !== undefined && used === token.value) {
      const why = isSession.peek()
        ? 'Your session has expired. Sign in again.'
        : 'Your token has expired or was revoked. Sign in with another one.';
      broadcastInvalidToken(used, why);
      forget(why);
    }
    throw error;
  }
};

/** A call of the API as the reader. @throws {ApiError} */
export const call = <D = Resource>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Document<D>> => asReader(() => client.value.call<D>(method, path, body, headers));

/** A call of the environments' API, which the platform has on this origin too. @throws {ApiError} */
export const callEnvironments = <T>(method: string, path: string, body?: unknown): Promise<T> =>
  asReader(() => requestEnvironments<T>({ base, authorization: authorization() }, method, path, body));

export const get = async <T extends ResourceType>(path: string): Promise<Resource<T>> =>
  (await call<Resource<T>>('GET', path)).data;

/** Content that the API answers with a redirect to the bucket: a state, a plan. */
export const content = async (path: string): Promise<Response> => {
  const response = await fetch(`${base}/api/v2${path}`, {
    headers: { authorization: `Bearer ${token.value}` },
    referrerPolicy: 'no-referrer',
  });
  if (!response.ok) throw new ApiError('GET', path, response.status, await response.text());
  return response;
};

/** Of endpoints that take a text as it is. */
export const putText = async (path: string, body: string): Promise<void> => {
  const response = await fetch(`${base}/api/v2${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token.value}`, 'content-type': 'application/octet-stream' },
    body,
    referrerPolicy: 'no-referrer',
  });
  if (!response.ok) throw new ApiError('PUT', path, response.status, await response.text());
};

/** The first so many of a list, or some more: pages are not cut. */
export const listAtLeast = async <T extends ResourceType>(path: string, atLeast: number): Promise<Listed<T>> => {
  const listed: Listed<T> = { data: [], included: [] };
  for (let page: number | null = 1; page && listed.data.length < atLeast; ) {
    const mark = path.includes('?') ? '&' : '?';
    const size = Math.min(atLeast, 100);
    const answer: Document<Resource<T>[]> = await call('GET', `${path}${mark}page[size]=${size}&page[number]=${page}`);
    listed.data.push(...answer.data);
    listed.included.push(...(answer.included ?? []));
    page = answer.meta?.pagination?.['next-page'] ?? null;
  }
  return listed;
};

/** Every page of a list. */
export const all = <T extends ResourceType>(path: string): Promise<Listed<T>> =>
  listAtLeast(path, Number.POSITIVE_INFINITY);

export const create = async (
  path: string,
  type: string,
  attributes: Record<string, unknown>,
  relationships?: Record<string, { data: unknown }>,
): Promise<Resource> => (await call('POST', path, { data: { type, attributes, relationships } })).data;

/**
 * @param basis what the reader was shown: when somebody has changed it since, nothing is changed
 * @throws {ApiError} 412 then
 */
export const change = async (
  path: string,
  type: string,
  attributes: Record<string, unknown>,
  { relationships, basis }: { relationships?: Record<string, { data: unknown }>; basis?: Pick<Resource, 'etag'> } = {},
): Promise<Resource> => {
  const headers: Record<string, string> = basis?.etag ? { 'if-match': basis.etag } : {};
  return (await call('PATCH', path, { data: { type, attributes, relationships } }, headers)).data;
};

/**
 * Only the changed attributes, so that concurrent edits of others are kept.
 * @param known as the reader saw it when the form was opened
 */
export const changed = (next: Record<string, unknown>, current: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(next).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name])),
  );

/** Who was faster, and when; undefined for anything else that can go wrong. */
export const conflictingChange = (error: unknown): { by: string; at: string | undefined } | undefined => {
  if (!(error instanceof ApiError) || error.status !== 412) return undefined;
  const { 'changed-by': by = 'Someone', 'changed-at': at } = error.errors[0]?.meta ?? {};
  return { by, at };
};

/** What to tell the reader: the server's own words where there are any. */
export const errorText = (error: unknown): string => {
  if (error instanceof ApiError) {
    const reasons = error.errors.map(({ title, detail }) => detail || title).filter(Boolean);
    if (reasons.length) return reasons.join(' ');
    return `The server responded with status ${error.status}. Try again. If it keeps failing, contact your administrator.`;
  }
  if (error instanceof TypeError) return 'Can’t reach the server. Check your connection and try again.';
  return error instanceof Error ? error.message : String(error);
};
