import { batch, computed, signal } from '@preact/signals';
import { ApiError, Client, type Document, type Listed, type Resource } from '#clients/client/client.ts';
import type { Attributes, ResourceType } from '#clients/client/documents.ts';
import { requestEnvironments } from './environments-client.ts';
import { base } from './location.ts';
import { broadcastInvalidToken, broadcastSignIn, broadcastSignOut, heldAtFirst, joinTabs } from './tabs.ts';

export { related } from '#clients/client/client.ts';

/**
 * The user's token: a pasted API token, or a session from sign-in. It is kept in the session storage of
 * this page's tabs (tabs.ts), and sent only in the Authorization header of calls to the same origin: never in
 * a URL, never in persistent storage.
 */

const token = signal(heldAtFirst);

/** Why the user has to sign in again; undefined at first. */
export const ended = signal<string | undefined>(undefined);
/** The session ended by itself: the view stays with all that was typed, and calls wait until the same user signs in. */
export const expired = signal(false);
export const account = signal<Resource<'users'> | undefined>(undefined);
export const banner = signal<Attributes['admin-banners'] | undefined>(undefined);
export const signedIn = computed(() => token.value !== undefined);

/** Authorization header for requests outside the API client. */
export const authorization = (): Record<string, string> =>
  token.peek() === undefined ? {} : { authorization: `Bearer ${token.peek()}` };

const client = computed(() => new Client(base, token.value ?? ''));

/** Prefix of session tokens (resources/users/tokens.ts). */
const sessionPrefix = 'sfs_';
export const isSession = computed(() => token.value?.startsWith(sessionPrefix) ?? false);

/** Sign-out revokes a session; a pasted token stays valid for its other uses. */
const revoke = (secret: string): void => {
  const body = new URLSearchParams({ token: secret });
  // If the request fails, the session expires by itself.
  fetch(`${base}/oauth/revoke`, { method: 'POST', body, keepalive: true }).catch(() => {});
};

/** Pending while the session is expired. */
let resumed = Promise.resolve();
let resume = (): void => {};

const forget = (reason?: string): void => {
  if (reason !== undefined && !expired.peek()) ({ promise: resumed, resolve: resume } = Promise.withResolvers<void>());
  batch(() => {
    token.value = undefined;
    ended.value = reason;
    expired.value = reason !== undefined;
    if (!expired.value) account.value = undefined;
  });
  if (!expired.peek()) resume();
};

/** @throws {ApiError} 401 for an invalid token */
const accountOf = (secret: string) => new Client(base, secret).call<Resource<'users'>>('GET', '/account/details');

/** The user of a session that tabs.ts has noted. */
const admit = (secret: string, { data, meta }: Document<Resource<'users'>>): void => {
  // Another user must not see what the previous one loaded or typed.
  if (expired.peek() && account.peek()?.id !== data.id) {
    location.reload();
    return;
  }
  batch(() => {
    account.value = data;
    banner.value = meta?.banner;
    ended.value = undefined;
    token.value = secret;
    expired.value = false;
  });
  resume();
};

/** Signs out in this tab and all others. */
export const signOut = (): void => {
  if (isSession.peek()) revoke(token.peek() ?? '');
  broadcastSignOut();
  forget();
};

/** Loads the user of the token. */
export const knowAccount = async (): Promise<void> => {
  const askedWith = token.peek();
  // An invalid token has signed out already; views show other errors.
  const answer = await call<Resource<'users'>>('GET', '/account/details').catch(() => undefined);
  if (!answer || askedWith !== token.peek()) return;
  account.value = answer.data;
  banner.value = answer.meta?.banner;
};

/** True while the page asks other tabs for a session. */
export const joining = signal(true);
export const joined = joinTabs(
  (secret) => {
    if (expired.peek())
      return void accountOf(secret).then(
        (answer) => admit(secret, answer),
        () => {},
      );
    token.value = secret;
    ended.value = undefined;
    // Forget data of the previous user.
    if (account.peek()) void knowAccount();
  },
  (reason) => forget(reason),
).then(() => {
  joining.value = false;
});

/** @throws {ApiError} 401 for an invalid token */
export const signIn = async (secret: string): Promise<void> => {
  const answer = await accountOf(secret);
  broadcastSignIn(secret);
  admit(secret, answer);
};

/** Sends again, after the user has signed in again, when the token is no longer valid. */
const asReader = async <T>(send: () => Promise<T>): Promise<T> => {
  await resumed;
  const used = token.value;
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401 || used === undefined) throw error;
    if (used === token.value) {
      const reason = isSession.peek()
        ? 'Your session has expired. Sign in again.'
        : 'Your token has expired or was revoked. Sign in with another one.';
      broadcastInvalidToken(used, reason);
      forget(reason);
    }
    await resumed;
    if (token.value === undefined) throw error;
    return asReader(send);
  }
};

/** Calls the API as the user. @throws {ApiError} */
export const call = <D = Resource>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Document<D>> => asReader(() => client.value.call<D>(method, path, body, headers));

/** Calls the environments' API, which the platform also serves on this origin. @throws {ApiError} */
export const callEnvironments = <T>(method: string, path: string, body?: unknown): Promise<T> =>
  asReader(() => requestEnvironments<T>({ base, authorization: authorization() }, method, path, body));

export const get = async <T extends ResourceType>(path: string): Promise<Resource<T>> =>
  (await call<Resource<T>>('GET', path)).data;

/** Null: it does not exist yet (404). */
export const find = <T extends ResourceType>(path: string): Promise<Resource<T> | null> =>
  get<T>(path).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });

/** Content that the API redirects to storage for: a state, a plan. */
export const content = (path: string): Promise<Response> => asReader(() => fetched('GET', path));

/** For endpoints that take plain text. */
export const putText = async (path: string, body: string): Promise<void> => {
  await asReader(() => fetched('PUT', path, body));
};

/** @throws {ApiError} */
const fetched = async (method: string, path: string, body?: string): Promise<Response> => {
  const response = await fetch(`${base}/api/v2${path}`, {
    method,
    headers: { ...authorization(), ...(body === undefined ? {} : { 'content-type': 'application/octet-stream' }) },
    body: body ?? null,
    referrerPolicy: 'no-referrer',
  });
  if (!response.ok) throw new ApiError(method, path, response.status, await response.text());
  return response;
};

/** At least this many entries of a list, in whole pages. */
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

/** All pages of a list. */
export const all = <T extends ResourceType>(path: string): Promise<Listed<T>> =>
  listAtLeast(path, Number.POSITIVE_INFINITY);

/** Undefined ones are left out. */
export type Relationships = Record<string, { data: unknown } | undefined>;

export const create = async (
  path: string,
  type: string,
  attributes: Record<string, unknown>,
  relationships?: Relationships,
): Promise<Resource> => (await call('POST', path, { data: { type, attributes, relationships } })).data;

/**
 * @param basis the document that the user saw: a change by someone else since then fails the call
 * @throws {ApiError} 412 in that case
 */
export const change = async (
  path: string,
  type: string,
  attributes: Record<string, unknown>,
  { relationships, basis }: { relationships?: Relationships; basis?: Pick<Resource, 'etag'> } = {},
): Promise<Resource> => {
  const headers: Record<string, string> = basis?.etag ? { 'if-match': basis.etag } : {};
  return (await call('PATCH', path, { data: { type, attributes, relationships } }, headers)).data;
};

/**
 * Only the changed attributes, to keep concurrent edits of others.
 * @param known attributes when the form was opened
 */
export const changed = (next: Record<string, unknown>, current: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(next).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name])),
  );

/** Who made a conflicting change, and when; undefined for other errors. */
export const conflictingChange = (error: unknown): { by: string; at: string | undefined } | undefined => {
  if (!(error instanceof ApiError) || error.status !== 412) return undefined;
  const { 'changed-by': by = 'Someone', 'changed-at': at } = error.errors[0]?.meta ?? {};
  return { by, at };
};

/** Message for the user: the server's own where possible. */
export const errorText = (error: unknown): string => {
  if (error instanceof ApiError) {
    const reasons = error.errors.map(({ title, detail }) => detail || title).filter(Boolean);
    if (reasons.length) return reasons.join(' ');
    return `The server responded with status ${error.status}. Try again. If it keeps failing, contact your administrator.`;
  }
  if (error instanceof TypeError) return 'Can’t reach the server. Check your connection and try again.';
  return error instanceof Error ? error.message : String(error);
};
