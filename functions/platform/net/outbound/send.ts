import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Address, allowedAddresses } from './addresses.ts';
import { OutboundError } from './errors.ts';

/**
 * Requests to users' URLs: run tasks, notifications, version control. Each goes only to an address that was resolved
 * and checked just before, so that neither a changed DNS answer (DNS rebinding) nor a redirect can reach an internal
 * address.
 */

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

export interface OutboundLimits {
  /** Milliseconds until the connection must be established, and until the response must be complete. */
  connectMs: number;
  totalMs: number;
  /** Maximum size of a response's body; the connection is closed on more. */
  maxBytes: number;
  /** Rejects redirects to another origin, because the body is meant for the original one. */
  sameOrigin: boolean;
}

export interface OutboundAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** At most `maxBytes` of it, and only what arrived in time. */
  body: Buffer;
}

export const defaultLimits: OutboundLimits = { connectMs: 5_000, totalMs: 10_000, maxBytes: 65_536, sameOrigin: false };

export const maxRedirects = 3;
/** Redirects that repeat the request unchanged; others would turn a POST into an empty GET. */
const repeating = [307, 308];

/**
 * Checks a URL as far as possible without resolving its host.
 * @throws {OutboundError}
 */
export const readUrl = (text: string, base?: URL): URL => {
  if (!URL.canParse(text, base?.href)) throw new OutboundError('forbidden', 'it is not a URL');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('forbidden', 'only http and https URLs are supported');
  }
  if (url.username || url.password)
    throw new OutboundError('forbidden', 'the URL must not contain a user name or password');
  return url;
};

/**
 * Sends a request and follows redirects that repeat it. Resolves for any status.
 * @throws {OutboundError}
 */
export const send = async (request: OutboundRequest, limits: Partial<OutboundLimits> = {}): Promise<OutboundAnswer> => {
  const { connectMs, totalMs, maxBytes, sameOrigin } = { ...defaultLimits, ...limits };
  const deadline = Date.now() + totalMs;
  let url = readUrl(request.url);
  let { headers } = request;
  for (let redirects = 0; ; redirects++) {
    const addresses = await inTime(allowedAddresses(url.hostname), deadline);
    const answer = await exchange(url, { ...request, headers }, addresses, { deadline, connectMs, maxBytes });
    const { location } = answer.headers;
    if (!repeating.includes(answer.status) || !location) return answer;
    if (redirects === maxRedirects)
      throw new OutboundError('unreachable', `it redirects more than ${maxRedirects} times`);
    const next = readUrl(location, url);
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      throw new OutboundError('forbidden', 'it redirects from https to http, which would send the request unencrypted');
    }
    if (sameOrigin && next.origin !== url.origin) {
      throw new OutboundError('forbidden', 'it redirects to another address, which this platform does not follow');
    }
    headers = headersAfter(headers, url, next);
    url = next;
  }
};

const credentials = ['authorization', 'private-token', 'cookie'];

/**
 * Headers for a redirect: credentials are only sent to the origin they belong to (Fetch Standard: HTTP-redirect fetch).
 */
export const headersAfter = (headers: Record<string, string>, from: URL, to: URL): Record<string, string> =>
  from.origin === to.origin
    ? headers
    : Object.fromEntries(Object.entries(headers).filter(([name]) => !credentials.includes(name.toLowerCase())));

export const late = (): OutboundError => new OutboundError('timeout', 'it timed out');

/** Limits the wait for work that cannot be aborted, such as a DNS lookup. */
export const inTime = async <T>(work: Promise<T>, deadline: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.max(0, deadline - Date.now()));
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
};

/** Resolves every name to the checked addresses. */
export const pinned =
  (addresses: Address[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses as [Address];
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  };

interface Bounds {
  deadline: number;
  connectMs: number;
  maxBytes: number;
}

const exchange = (
  url: URL,
  { method, headers, body }: OutboundRequest,
  addresses: Address[],
  { deadline, connectMs, maxBytes }: Bounds,
): Promise<OutboundAnswer> =>
  new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    // Uses a new connection: a kept one could be to an address that is no longer allowed.
    const options = { method, headers: { ...headers, ...length }, agent: false, lookup: pinned(addresses) };
    const outgoing = (secure ? https : http).request(url, options);
    let heard = (): void => reject(late());
    const total = setTimeout(() => heard(), Math.max(0, deadline - Date.now()));
    const connect = setTimeout(() => heard(), Math.min(connectMs, Math.max(0, deadline - Date.now())));
    const end = (settle: () => void): void => {
      clearTimeout(total);
      clearTimeout(connect);
      settle();
      outgoing.destroy();
    };
    heard = () => end(() => reject(late()));
    outgoing.on('socket', (socket) => socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(connect)));
    outgoing.on('error', (error) => end(() => reject(new OutboundError('unreachable', reasonOf(error)))));
    outgoing.on('response', (incoming) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      const answer = () =>
        end(() =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(parts).subarray(0, maxBytes),
          }),
        );
      // Status and headers are already a response; an incomplete body does not invalidate them.
      heard = answer;
      incoming.on('data', (part: Buffer) => {
        parts.push(part);
        bytes += part.length;
        if (bytes >= maxBytes) answer();
      });
      incoming.on('end', answer);
      incoming.on('error', answer);
    });
    outgoing.end(body);
  });

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'it closed the connection without a response',
  EPROTO: 'the server does not support TLS',
  HPE_INVALID_CONSTANT: 'its response is not HTTP',
  HPE_HEADER_OVERFLOW: 'the headers of its response are too large',
};

/**
 * The reason in plain words. Other TLS and connection errors appear by their code, which is clear and reveals nothing
 * about the platform.
 */
export const reasonOf = (error: NodeJS.ErrnoException): string => {
  const code = error.code ?? error.name;
  if (code.startsWith('ERR_SSL')) return 'the TLS handshake failed';
  return reasons[code] ?? `the connection failed (${code})`;
};
