import http from 'node:http';
import https from 'node:https';
import { allowedAddresses } from './addresses.ts';
import { OutboundError } from './errors.ts';
import { headersAfter, inTime, late, maxRedirects, pinned, readUrl, reasonOf } from './send.ts';

/** Downloads from users' URLs: like send.ts, for responses that are too large for memory. */

export interface DownloadLimits {
  connectMs: number;
  /** Maximum time without a byte. */
  idleMs: number;
  totalMs: number;
}

const defaultLimits: DownloadLimits = { connectMs: 5_000, idleMs: 60_000, totalMs: 10 * 60_000 };

const following = [301, 302, 303, 307, 308];

/**
 * Sends a GET, follows redirects without passing credentials to another origin, and returns the body as a stream, which
 * fails with an {@link OutboundError} when it breaks off.
 * @throws {OutboundError}
 */
export const download = async (
  request: { url: string; headers: Record<string, string> },
  limits: Partial<DownloadLimits> = {},
): Promise<http.IncomingMessage> => {
  const bounds = { ...defaultLimits, ...limits };
  const deadline = Date.now() + bounds.totalMs;
  let url = readUrl(request.url);
  let { headers } = request;
  for (let redirects = 0; ; redirects++) {
    const addresses = await inTime(allowedAddresses(url.hostname), Math.min(deadline, Date.now() + bounds.connectMs));
    const answer = await open(url, headers, { ...bounds, deadline, lookup: pinned(addresses) });
    const { location } = answer.headers;
    if (!following.includes(answer.statusCode ?? 0) || !location) return answer;
    answer.destroy();
    if (redirects === maxRedirects) {
      throw new OutboundError('unreachable', `it redirects more than ${maxRedirects} times`);
    }
    const next = readUrl(location, url);
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      throw new OutboundError('forbidden', 'it redirects from https to http, which would send the content unencrypted');
    }
    headers = headersAfter(headers, url, next);
    url = next;
  }
};

interface Opening extends DownloadLimits {
  deadline: number;
  lookup: ReturnType<typeof pinned>;
}

const open = (
  url: URL,
  headers: Record<string, string>,
  { connectMs, idleMs, deadline, lookup }: Opening,
): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const outgoing = (secure ? https : http).request(url, { method: 'GET', headers, agent: false, lookup });
    const total = setTimeout(() => outgoing.destroy(late()), Math.max(0, deadline - Date.now()));
    const connect = setTimeout(() => outgoing.destroy(late()), connectMs);
    outgoing.setTimeout(idleMs, () => outgoing.destroy(late()));
    outgoing.on('socket', (socket) => socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(connect)));
    outgoing.on('close', () => {
      clearTimeout(total);
      clearTimeout(connect);
    });
    outgoing.on('error', (error) =>
      reject(error instanceof OutboundError ? error : new OutboundError('unreachable', reasonOf(error))),
    );
    outgoing.on('response', resolve);
    outgoing.end();
  });
