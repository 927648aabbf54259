import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  answerHeaders,
  type ForwardedAnswer,
  type ForwardedFailure,
  type ForwardedRequest,
  maxPacked,
  packAnswer,
} from '#platform/net/forwarding/messages.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { headersAfter } from '#platform/net/outbound/send.ts';
import { messageOf } from '#platform/net/transport/errors.ts';
import { open, send } from '#platform/net/transport/http.ts';

/** Sends a request of the platform from the agent's machine, to origins that its operator allows. */

const maxRedirects = 3;
const uploadIdleMs = 60_000;
const maxMessage = 500;

const forbidden = (message: string) => new OutboundError('forbidden', message);

const allowedUrl = (text: string, origins: string[], base?: URL): URL => {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url && origins.includes(url.origin) && !url.username && !url.password) return url;
  throw forbidden(
    `the agent does not forward to ${url?.origin ?? 'that address'}. Its operator can allow it with --forward-to`,
  );
};

const isRedirect = ({ method }: ForwardedRequest, status: number): boolean =>
  [307, 308].includes(status) || (method === 'GET' && [301, 302, 303].includes(status));

/** Follows redirects of archives to allowed origins. Returns redirects of the API, which contain new locations. */
const exchange = async (
  request: ForwardedRequest,
  origins: string[],
  signal: AbortSignal,
): Promise<http.IncomingMessage> => {
  let url = allowedUrl(request.url, origins);
  let { headers } = request;
  for (let redirects = 0; ; redirects++) {
    const body = request.body === undefined ? undefined : Buffer.from(request.body);
    const call = { method: request.method, headers, body, signal, idleMs: request.totalMs };
    const answer = await open(url.href, call);
    const { location } = answer.headers;
    const follows = request.uploadUrl !== undefined && isRedirect(request, answer.statusCode ?? 0);
    if (!follows || !location) return answer;
    answer.destroy();
    if (redirects === maxRedirects)
      throw new OutboundError('unreachable', `it redirects more than ${maxRedirects} times`);
    const target = allowedUrl(location, origins, url);
    if (url.protocol === 'https:' && target.protocol === 'http:') throw forbidden('it redirects from https to http');
    headers = headersAfter(headers, url, target);
    url = target;
  }
};

const bounded = (maxBytes: number): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(
        bytes > maxBytes ? forbidden(`its response has more than ${Math.floor(maxBytes / 1024 / 1024)} MiB`) : null,
        chunk,
      );
    },
  });
};

/** Via a file, because storage requires the size first. */
const upload = async (answer: http.IncomingMessage, url: string, maxBytes: number): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'stepform-forward-'));
  try {
    const file = join(folder, 'body');
    await pipeline(answer, bounded(maxBytes), createWriteStream(file));
    const { size } = await stat(file);
    const { status } = await send(url, { method: 'PUT', body: { file, size }, idleMs: uploadIdleMs });
    if (status < 200 || status >= 300) throw new OutboundError('unreachable', `storage answered the agent ${status}`);
  } finally {
    await rm(folder, { recursive: true });
  }
};

const read = async (answer: http.IncomingMessage, maxBytes: number): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    // Also destroys the response.
    if (size >= maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
};

const headersOf = ({ headers }: http.IncomingMessage): Record<string, string> =>
  Object.fromEntries(answerHeaders.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])));

/** Limits for requests, set by the agent's operator and its registration. */
export interface Bounds {
  origins: string[];
  /** Origin that bodies are uploaded to. */
  storage: string | undefined;
}

const isOfStorage = (url: string, storage: string | undefined): boolean =>
  URL.canParse(url) && storage !== undefined && new URL(url).origin === storage;

const answerTo = async (
  request: ForwardedRequest,
  { origins, storage }: Bounds,
  signal: AbortSignal,
): Promise<ForwardedAnswer> => {
  if (request.uploadUrl !== undefined && !isOfStorage(request.uploadUrl, storage)) {
    throw forbidden(`the agent uploads to the platform's storage, ${storage}, only`);
  }
  const answer = await exchange(request, origins, signal);
  const facts = { status: answer.statusCode ?? 0, headers: headersOf(answer) };
  if (request.uploadUrl === undefined) return { ...facts, body: await read(answer, request.maxBytes) };
  if (facts.status === 200) await upload(answer, request.uploadUrl, request.maxBytes);
  else answer.destroy();
  return { ...facts, body: Buffer.alloc(0) };
};

/** Never throws: errors become responses. */
export const performRequest = async (
  request: ForwardedRequest,
  bounds: Bounds,
): Promise<ForwardedAnswer | ForwardedFailure> => {
  const signal = AbortSignal.timeout(request.totalMs);
  try {
    const answer = await answerTo(request, bounds, signal);
    if (packAnswer(answer).length <= maxPacked) return answer;
    return { failure: 'forbidden', message: 'its response is larger than an agent can forward' };
  } catch (error) {
    if (signal.aborted) return { failure: 'timeout', message: 'it timed out' };
    const failure = error instanceof OutboundError ? error.failure : 'unreachable';
    return { failure, message: messageOf(error).slice(0, maxMessage) };
  }
};
