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
 * Who may ask at all right now, before anything is read for it. Requests count as their user's, whichever token they
 * show (HCP API: rate limits). A token of a run or of a run task says whose it is, so that fifty tasks or runs behind one
 * address do not stand in each other's way; any other that this instance has not seen yet, or none, counts as the address
 * it comes from. Such a token is looked up before it is refused: made-up ones must not lock out good ones.
 */

/** Whose token it is, by its hash; null for those that are not counted. */
const userOfToken = new Cache<string | null>({ maxWeight: 10_000 });

/**
 * To be said once a token was found good.
 * @param caller the id of whoever it stands for; null for a run, whose configuration decides how often it asks
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

/** Whose token it is, if this instance has found it good. */
const knownCaller = ({ headers: { authorization } }: APIGatewayProxyEventV2): string | null | undefined =>
  authorization ? userOfToken.get(hashSecret(authorization)) : undefined;

/** What a token counts as that nobody has checked: what it says of itself, or where it comes from. */
const uncheckedCaller = (event: APIGatewayProxyEventV2, { idIn }: Asked): string => {
  const id = idIn(secretIn(event));
  return id === undefined ? networkOf(event.requestContext.http.sourceIp ?? '') : `unchecked ${id}`;
};

/** Whose token it is. 1 read. */
const checkedCaller = async (
  event: APIGatewayProxyEventV2,
  { callerOf }: Asked,
): Promise<string | null | undefined> => {
  // Without the table the refusal stands.
  const caller = await callerOf(secretIn(event)).catch(() => undefined);
  if (caller !== undefined) isTokenOf(event.headers.authorization, caller);
  return caller;
};

const minute = 60;

/** By how many seconds are counted together; made at the first request, when the settings are known. */
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
 * Headers for the answer, which is already there for whom there is none other.
 * @param minutely counts what comes within a minute, for clients that send requests all at once and do not try again
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
