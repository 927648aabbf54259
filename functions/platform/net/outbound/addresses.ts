import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { environment } from '#platform/environment.ts';
import { OutboundError } from './errors.ts';

/**
 * Addresses that users' URLs may reach: the internet, and ranges that the operator allows. Rejects every address that
 * could be internal (this function, its host, metadata services, private networks), and every address that is not known
 * to be external.
 */

/**
 * IANA: special-purpose address registries. 169.254.0.0/16 (link-local) contains the metadata services; 100.64.0.0/10 is
 * for carrier-grade NAT.
 */
const reserved4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** Global unicast; the rest of IPv6 is local, mapped from IPv4, multicast, or unassigned. */
const global6 = '2000::/3';
/** Protocol assignments with Teredo, benchmarks and documentation; 6to4, which embeds an IPv4 address. */
const reserved6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const cidr = /^([0-9A-Fa-f.:]+)\/(\d{1,3})$/;

/** `10.0.0.0/8` → its parts; undefined if it is not a range. */
export const readCidr = (text: string): { address: string; prefix: number; family: 'ipv4' | 'ipv6' } | undefined => {
  const [, address = '', digits] = cidr.exec(text) ?? [];
  const version = isIP(address);
  const prefix = Number(digits);
  if (version === 0 || prefix > (version === 4 ? 32 : 128)) return undefined;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
};

const listOf = (ranges: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const read = readCidr(range);
    if (!read) throw new Error(`${range} is not a CIDR range`);
    list.addSubnet(read.address, read.prefix, read.family);
  }
  return list;
};

const inside4 = listOf(reserved4);
const outside6 = listOf([global6]);
const inside6 = listOf(reserved6);

/** Whether requests to the address are allowed. `allowed`: ranges that the operator trusts. */
export const isAllowed = (address: string, allowed: readonly string[] = environment.outboundAllowedCidrs): boolean => {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (listOf(allowed).check(address, family)) return true;
  if (version === 4) return !inside4.check(address, family);
  return outside6.check(address, family) && !inside6.check(address, family);
};

/** The address in `URL.hostname`, which has IPv6 addresses in brackets. */
const addressIn = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

export interface Address {
  address: string;
  family: number;
}

/**
 * Addresses of a host to which requests are allowed.
 * @throws {OutboundError} for an unknown host, or one without an allowed address
 */
export const allowedAddresses = async (hostname: string): Promise<Address[]> => {
  const literal = addressIn(hostname);
  const family = isIP(literal);
  const all: Address[] = family ? [{ address: literal, family }] : await resolve(hostname);
  const may = all.filter(({ address }) => isAllowed(address));
  if (may.length > 0) return may;
  throw new OutboundError(
    'forbidden',
    `${hostname} resolves to a loopback, private, link-local or otherwise reserved address. The operator of this platform can allow it with the setting outboundAllowedCidrs`,
  );
};

const resolve = async (hostname: string): Promise<Address[]> => {
  try {
    return await lookup(hostname, { all: true });
  } catch {
    throw new OutboundError('unreachable', `${hostname} cannot be resolved by DNS`);
  }
};

/** Whether all addresses of a host are internal ones that the operator allows. */
export const isTrusted = async (hostname: string): Promise<boolean> => {
  const literal = addressIn(hostname);
  const all = isIP(literal) ? [{ address: literal }] : await resolve(hostname).catch(() => []);
  const trusted = listOf(environment.outboundAllowedCidrs);
  return all.length > 0 && all.every(({ address }) => trusted.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6'));
};
