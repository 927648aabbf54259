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
}

export const noFront: Front = { publicUrls: [], trustedProxies: [] };

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

const publicUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url;
  throw new Error(
    `STEPFORM_PUBLIC_URL must be the address of a proxy without a path, e.g. https://stepform.example.com; it is ${text}`,
  );
};

const proxyRange = (text: string): string => {
  const range = isIP(text) ? `${text}/${isIP(text) === 4 ? 32 : 128}` : text;
  const [address = ''] = range.split('/');
  if (range.includes('/') && isIP(address) && isWithin(address, [range])) return range;
  throw new Error(`STEPFORM_TRUSTED_PROXIES must have addresses or ranges, e.g. 127.0.0.1,::1; it has ${text}`);
};

/** @throws {Error} that names the invalid variable */
export const readFront = (environment: NodeJS.ProcessEnv): Front => ({
  publicUrls: listOf(environment.STEPFORM_PUBLIC_URL).map(publicUrl),
  trustedProxies: listOf(environment.STEPFORM_TRUSTED_PROXIES).map(proxyRange),
});

/** The client's scheme; undefined if the host is not one of this platform's. */
export const schemeOf = (request: IncomingMessage, { publicUrls }: Front): 'http' | 'https' | undefined => {
  const [host = '', ...more] = request.headersDistinct.host ?? [];
  if (more.length > 0) return undefined;
  const named = publicUrls.find((url) => url.host === host.toLowerCase());
  if (named) return named.protocol === 'https:' ? 'https' : 'http';
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
