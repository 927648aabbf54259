import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { isWithin } from '#resources/ip-allowlists/addresses.ts';

/**
 * Origins of requests, and the platform's own addresses. The platform listens on loopback: clients on other machines
 * come through a proxy or a tunnel. Clients can write any header, so a host counts only if it is loopback or configured
 * by the operator, and a forwarded address only from a proxy that the operator trusts.
 */
export interface Front {
  /** Origins at which a proxy serves this platform; links use the first one. */
  publicUrls: readonly URL[];
  /** Trusted proxies: addresses and ranges. */
  trustedProxies: readonly string[];
  /** Origin at which the same proxy serves configurations, states and plans; without it they are on loopback only. */
  storageUrl?: URL;
}

export const noFront: Front = { publicUrls: [], trustedProxies: [] };

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

const proxyUrl = (text: string, variable: string, example: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url;
  throw new Error(`${variable} must be the address of a proxy without a path, e.g. ${example}; it is ${text}`);
};

const publicUrl = (text: string): URL => proxyUrl(text, 'STEPFORM_PUBLIC_URL', 'https://stepform.example.com');

/** Clients would send their tokens along to a host that is also the API's. */
const storageUrlBeside = (publicUrls: URL[], text = ''): { storageUrl?: URL } => {
  if (!text) return {};
  const storageUrl = proxyUrl(text, 'STEPFORM_STORAGE_URL', 'https://files.stepform.example.com');
  if (publicUrls.length === 0) throw new Error('STEPFORM_STORAGE_URL needs STEPFORM_PUBLIC_URL');
  if (publicUrls.some(({ hostname }) => hostname === storageUrl.hostname))
    throw new Error('STEPFORM_STORAGE_URL must have another host name than STEPFORM_PUBLIC_URL');
  return { storageUrl };
};

const proxyRange = (text: string): string => {
  const range = isIP(text) ? `${text}/${isIP(text) === 4 ? 32 : 128}` : text;
  const [address = ''] = range.split('/');
  if (range.includes('/') && isIP(address) && isWithin(address, [range])) return range;
  throw new Error(`STEPFORM_TRUSTED_PROXIES must have addresses or ranges, e.g. 127.0.0.1,::1; it has ${text}`);
};

/** @throws {Error} that names the invalid variable */
export const readFront = (environment: NodeJS.ProcessEnv): Front => {
  const publicUrls = listOf(environment.STEPFORM_PUBLIC_URL).map(publicUrl);
  return {
    publicUrls,
    trustedProxies: listOf(environment.STEPFORM_TRUSTED_PROXIES).map(proxyRange),
    ...storageUrlBeside(publicUrls, environment.STEPFORM_STORAGE_URL),
  };
};

/** The only `Host` of a request, in lower case. */
const hostOf = (request: IncomingMessage): string | undefined => {
  const [host = '', ...more] = request.headersDistinct.host ?? [];
  return more.length > 0 ? undefined : host.toLowerCase();
};

/** The public URL that the client called; undefined for other hosts, also on this machine. */
export const publicUrlOf = (request: IncomingMessage, { publicUrls }: Front): URL | undefined => {
  const host = hostOf(request);
  return publicUrls.find((url) => url.host === host);
};

/** A proxy that does not keep the client's host name calls this machine's, but says for whom it asks. */
const isForwarded = ({ headers }: IncomingMessage): boolean =>
  ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'].some((name) => headers[name] !== undefined);

/** Whether the client called this machine by its own name, without a proxy. */
export const isFromThisMachine = (request: IncomingMessage, front: Front): boolean =>
  !publicUrlOf(request, front) && !isForwarded(request);

export const isForStorage = (request: IncomingMessage, { storageUrl }: Front): boolean =>
  storageUrl !== undefined && storageUrl.host === hostOf(request);

/** The client's scheme; undefined if the host is not one of this platform's. */
export const schemeOf = (request: IncomingMessage, front: Front): 'http' | 'https' | undefined => {
  const named = publicUrlOf(request, front);
  if (named) return named.protocol === 'https:' ? 'https' : 'http';
  const host = hostOf(request);
  if (host === undefined) return undefined;
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (!url || url.username || url.password || !isLoopback(url)) return undefined;
  return 'encrypted' in request.socket ? 'https' : 'http';
};

const plain = (address: string): string => address.trim().replace(/^::ffff:/, '');

/** The client's address: of the connection, or from the header of the last trusted proxy. */
export const clientAddress = (request: IncomingMessage, { trustedProxies }: Front): string => {
  const connection = plain(request.socket.remoteAddress ?? '');
  const forwarded = (request.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',').map(plain);
  let address = connection;
  while (isWithin(address, [...trustedProxies])) {
    const before = forwarded.pop();
    // Without a valid address, the proxy counts as the client.
    if (before === undefined || !isIP(before)) break;
    address = before;
  }
  return address;
};
