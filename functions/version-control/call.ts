import { setTimeout as delay } from 'node:timers/promises';
import { sendThrough } from '#platform/net/forwarding/forward.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { fetchBy } from '#platform/net/outbound/fetch.ts';
import { type OutboundAnswer, type OutboundLimits, type OutboundRequest, send } from '#platform/net/outbound/send.ts';
import type { ForgeClient } from './connections.ts';
import { ForgeError } from './forge-error.ts';
import type { Call, ForgeRequest } from './forges/forge.ts';
import { providerOf } from './service-providers.ts';

/** Calls to a forge's API, with the connection's token and only to the connection's origin. */

const maxBytes = 10 * 1024 * 1024;
const answerMs = 10_000;
/** Delays before retries of reads; writes are sent once. */
const retryMs = [500, 2_000];

const userAgent = 'stepform';

/**
 * Bitbucket Cloud takes a user's API token only together with their e-mail address, `user@example.com:token`; Azure
 * DevOps takes a personal access token as a password.
 */
const authorizationBy = ({ dialect }: Pick<ForgeClient, 'dialect'>, secret: string): string => {
  const password =
    dialect === 'azure-devops' ? `:${secret}` : dialect === 'bitbucket' && secret.includes(':') && secret;
  return password ? `Basic ${Buffer.from(password).toString('base64')}` : `Bearer ${secret}`;
};

/** Headers of every request with a token. */
export const headersFor = (client: Pick<ForgeClient, 'dialect'>, secret: string): Record<string, string> => ({
  authorization: authorizationBy(client, secret),
  'user-agent': userAgent,
  accept: client.dialect === 'github' ? 'application/vnd.github+json' : 'application/json',
  ...(client.dialect === 'github' ? { 'x-github-api-version': '2022-11-28' } : {}),
  // Without it, Azure DevOps answers requests with an invalid token by a page for signing in.
  ...(client.dialect === 'azure-devops' ? { 'x-tfs-fedauthredirect': 'Suppress' } : {}),
});

/** Bitbucket Cloud's API is below `/2.0`, with or without it in `api-url`. */
const baseOf = ({ apiUrl, dialect }: Pick<ForgeClient, 'apiUrl' | 'dialect'>): string =>
  dialect === 'bitbucket' && !apiUrl.endsWith('/2.0') ? `${apiUrl}/2.0` : apiUrl;

const urlOf = (client: Pick<ForgeClient, 'apiUrl' | 'dialect'>, { path, query = {} }: ForgeRequest): string => {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return `${baseOf(client)}${path}${parameters.size ? `${path.includes('?') ? '&' : '?'}${parameters}` : ''}`;
};

const header = (answer: OutboundAnswer, name: string): string | undefined => answer.headers[name]?.toString();

/** End of the pause that a forge's exhausted rate limit requires, in UTC ISO 8601; undefined without a pause. */
export const pausedUntil = (
  status: number,
  headers: Record<string, string | string[] | undefined>,
): string | undefined => {
  const text = (name: string) => headers[name]?.toString();
  const limited = status === 429 || (status === 403 && (text('retry-after') || text('x-ratelimit-remaining') === '0'));
  if (!limited) return undefined;
  const after = Number(text('retry-after'));
  const reset = Number(text('x-ratelimit-reset') ?? text('ratelimit-reset'));
  const most = Date.now() + 3600_000;
  const until = after > 0 ? Date.now() + after * 1000 : reset > 0 ? reset * 1000 : Date.now() + 60_000;
  return new Date(Math.min(most, Math.max(until, Date.now() + 1000))).toISOString();
};

/** The forge's message on one line, without the token, which the forge might repeat. */
const said = (body: Buffer, secret: string): string => {
  try {
    const { message, error, errors } = JSON.parse(body.toString('utf8'));
    // Bitbucket Cloud has an object, Bitbucket Data Center a list.
    const text = [message, error, error?.message, errors?.[0]?.message].find((one) => typeof one === 'string');
    if (!text) return '';
    return `: ${text
      .replaceAll(secret, '…')
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .slice(0, 200)}`;
  } catch {
    return '';
  }
};

const refused = [401, 403];
const passing = [500, 502, 503, 504];

export const failureOf = (name: string, status: number, body: Buffer, secret: string): ForgeError => {
  const detail = said(body, secret);
  if (refused.includes(status))
    return new ForgeError('refused', `${name} refused the token (${status}${detail})`, status);
  if (status === 404)
    return new ForgeError('missing', `${name} did not find it, or the token has no access (404${detail})`, status);
  if (status === 301 || status === 302) {
    return new ForgeError('missing', `${name} reports that the repository was renamed or moved`, status);
  }
  if (passing.includes(status)) return new ForgeError('unreachable', `${name} answered ${status}${detail}`, status);
  return new ForgeError('unexpected', `${name} answered ${status}${detail}`, status);
};

export const asForgeError = (name: string, error: unknown): ForgeError => {
  if (error instanceof ForgeError) return error;
  if (!(error instanceof OutboundError)) return new ForgeError('unexpected', `${name} sent an unexpected response`);
  const failure = error.failure === 'forbidden' ? 'forbidden' : 'unreachable';
  return new ForgeError(failure, `${name} could not be called: ${error.message}`);
};

/** Reason why the forge rejects the token, or end of the pause that its rate limit requires. */
export type TokenProblem = { broken: string } | { pausedUntil: string };

export interface Connection {
  client: ForgeClient;
  secret: string;
  /** Receives the reason why the token cannot be used; absent for a token that is not stored yet. */
  onProblem?(problem: TokenProblem): Promise<void>;
}

/** Sends through the platform, or through an agent if the connection has a pool. @throws {OutboundError} */
const sendFor = (
  { agentPoolId }: Pick<ForgeClient, 'agentPoolId'>,
  request: OutboundRequest,
  limits: Partial<OutboundLimits>,
): Promise<OutboundAnswer> => (agentPoolId ? sendThrough(agentPoolId, request, limits) : send(request, limits));

/** A `fetch` for libraries. @throws {OutboundError} */
export const fetchFor = (client: Pick<ForgeClient, 'agentPoolId'>) =>
  fetchBy((request, limits) => sendFor(client, request, limits));

const once = async (connection: Connection, request: ForgeRequest, totalMs: number) => {
  const { client, secret, onProblem } = connection;
  const { name } = providerOf(client.serviceProvider);
  const { method, body, accept = [] } = request;
  const headers = {
    ...headersFor(client, secret),
    ...(body ? { 'content-type': 'application/json' } : {}),
  };
  const most = request.maxBytes ?? maxBytes;
  const sent = { method, url: urlOf(client, request), headers, body: body && JSON.stringify(body) };
  const answer = await sendFor(client, sent, { totalMs, maxBytes: most, sameOrigin: true }).catch((error) => {
    throw asForgeError(name, error);
  });
  const until = pausedUntil(answer.status, answer.headers);
  if (until) {
    await onProblem?.({ pausedUntil: until });
    throw new ForgeError(
      'limited',
      `the rate limit of ${name} is reached until ${until.slice(11, 16)} UTC`,
      answer.status,
    );
  }
  if (answer.status === 401 && !accept.includes(401))
    await onProblem?.({ broken: `${name} no longer accepts the token` });
  const ok = answer.status >= 200 && answer.status < 300;
  if (!ok && !accept.includes(answer.status)) throw failureOf(name, answer.status, answer.body, secret);
  if (answer.body.length >= most)
    throw new ForgeError('unexpected', `${name} sent a response of more than ${most} bytes`);
  return { status: answer.status, headers: answer.headers, body: parsed(name, answer) };
};

const parsed = (name: string, answer: OutboundAnswer): unknown => {
  if (answer.body.length === 0) return undefined;
  if (!header(answer, 'content-type')?.includes('json')) return undefined;
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    throw new ForgeError('unexpected', `${name} sent a response that is not JSON`);
  }
};

/** @param patient retries reads. Otherwise a user is waiting: each request is sent once, with a timeout of 5 s */
export const callerOf =
  (connection: Connection, { patient = false } = {}): Call =>
  async (request) => {
    // A call through an agent is not retried, because waiting for the agent has already taken time.
    const waits = patient && request.method === 'GET' && !connection.client.agentPoolId ? retryMs : [];
    for (let tried = 0; ; tried++) {
      try {
        return await once(connection, request, patient ? answerMs : 5_000);
      } catch (error) {
        const wait = waits[tried];
        if (wait === undefined || !(error instanceof ForgeError) || error.failure !== 'unreachable') throw error;
        await delay(wait);
      }
    }
  };
