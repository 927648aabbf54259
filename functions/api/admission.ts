import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { environment } from '#platform/environment.ts';
import { Cache } from '#platform/store/cache.ts';
import { hashSecret } from '#platform/store/id.ts';
import { countRequests } from '#platform/store/request-counts.ts';
import { type Answer, json } from './answer.ts';
import type { Authority } from './authority.ts';
import { tooMany } from './errors.ts';
import { type Admission, RateLimit } from './rate-limit.ts';

/**
 * Rate limits, checked before anything is read for a request. Requests count for their user, with any of the user's
 * tokens (HCP API: rate limits). Tokens of runs and run tasks contain their id, so that fifty tasks or runs behind
 * one address do not block each other. Requests with any other token that this instance has not verified yet, or
 * without one, count for their address. Before such a request is rejected, its token is looked up, so that invalid
 * tokens from an address do not lock out valid ones.
 */

/** Caller of each verified token, by its hash; null for callers that are exempt. */
const userOfToken = new Cache<string | null>({ maxWeight: 10_000 });

/**
 * Call after a token was verified.
 * @param caller id of the user or another caller; null for a run: runs are exempt, because their configuration decides
 * how many requests they send
 */
export const isTokenOf = (authorization: string | undefined, caller: string | null): void => {
  if (!authorization) return;
  userOfToken.set(hashSecret(authorization), caller);
};

/** An IP address; for IPv6 its /64 network, because one client usually has all of it. */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address;
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const between = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return `${[...left, ...between, ...right].slice(0, 4).join(':')}::/64`;
};

type Asked = Pick<Authority, 'idIn' | 'callerOf'>;

const secretIn = ({ headers }: APIGatewayProxyEventV2): string =>
  (headers.authorization ?? '').replace(/^Bearer +/i, '');

/** Caller of the token, if this instance has verified it. */
const knownCaller = ({ headers: { authorization } }: APIGatewayProxyEventV2): string | null | undefined =>
  authorization ? userOfToken.get(hashSecret(authorization)) : undefined;

/** Caller of an unverified token: the id that it contains, or else the request's address. */
const uncheckedCaller = (event: APIGatewayProxyEventV2, { idIn }: Asked): string => {
  const id = idIn(secretIn(event));
  return id === undefined ? networkOf(event.requestContext.http.sourceIp ?? '') : `unchecked ${id}`;
};

/** Caller of the token. 1 read. */
const checkedCaller = async (
  event: APIGatewayProxyEventV2,
  { callerOf }: Asked,
): Promise<string | null | undefined> => {
  // If the table is unavailable, the rejection stands.
  const caller = await callerOf(secretIn(event)).catch(() => undefined);
  if (caller !== undefined) isTokenOf(event.headers.authorization, caller);
  return caller;
};

const minute = 60;

/**
 * Rate limits by the length of their period in seconds; created with the first request, once the settings are known.
 */
const rateLimits = new Map<number, RateLimit>();

const rateLimitOf = (seconds: number): RateLimit => {
  let limit = rateLimits.get(seconds);
  if (!limit) {
    limit = new RateLimit(environment.requestsPerSecond * seconds, countRequests, seconds);
    rateLimits.set(seconds, limit);
  }
  return limit;
};

const headersOf = ({ limit, remaining, resetMs }: Admission): Record<string, string> => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': (resetMs / 1000).toFixed(3),
});

/**
 * Headers for the response, or the rejection itself.
 * @param minutely counts per minute, for clients that send requests in bursts and do not retry
 */
export const admit = async (
  event: APIGatewayProxyEventV2,
  authority: Asked,
  { minutely = false } = {},
): Promise<{ headers: Record<string, string>; refusal?: Answer }> => {
  const limit = rateLimitOf(minutely ? minute : 1);
  const admitAs = (caller: string) => limit.admit(minutely ? `minute ${caller}` : caller, Date.now());
  const known = knownCaller(event);
  if (known === null) return { headers: {} };
  let admission = await admitAs(known ?? uncheckedCaller(event, authority));
  if (!admission.admitted && known === undefined) {
    const checked = await checkedCaller(event, authority);
    if (checked === null) return { headers: {} };
    if (checked !== undefined) admission = await admitAs(checked);
  }
  const headers = headersOf(admission);
  if (admission.admitted) return { headers };
  const { status, errors } = tooMany(admission.limit);
  const retryAfter = String(Math.ceil(admission.resetMs / 1000));
  return { headers: { ...headers, 'retry-after': retryAfter }, refusal: json(status, { errors }) };
};
