import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Addresses and ranges, of IPv4 and IPv6. An IPv4 address in IPv6's notation (RFC 4291 §2.5.5.2) is that IPv4 address. */

type Family = 'ipv4' | 'ipv6';

interface Address {
  family: Family;
  text: string;
}

const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** The one way to write an IPv6 address (RFC 5952), as URLs have it. */
const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** Undefined for what is no address, or one of a zone. */
export const readAddress = (text: string): Address | undefined => {
  if (isIPv4(text)) return { family: 'ipv4', text };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const address = canonical(text);
  const [, high, low] = mapped.exec(address) ?? [];
  if (!high || !low) return { family: 'ipv6', text: address };
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return { family: 'ipv4', text: `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}` };
};

/** Its bits, as text. */
const bitsOf = ({ family, text }: Address): string => {
  if (family === 'ipv4')
    return text
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('');
  const [left = [], right = []] = text.split('::').map((part) => part.split(':').filter(Boolean));
  const between = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...between, ...right]
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
    .join('');
};

export interface Range extends Address {
  prefix: number;
}

/**
 * A range in CIDR notation (RFC 4632).
 * @returns what is wrong with it, and how to write it, where it is none
 */
export const readRange = (text: string): Range | string => {
  const [before = '', after, ...rest] = text.split('/');
  const address = readAddress(before);
  if (!address || rest.length > 0) return 'must be a range in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32';
  if (address.family === 'ipv4' && before.includes(':')) {
    return `must be written as IPv4: ${address.text}/…, because an address in IPv6's notation for IPv4 counts as that`;
  }
  const bits = bitsOf(address);
  if (after === undefined) return `has no prefix length: write ${text.trim()}/${bits.length} for a single address`;
  const prefix = /^(0|[1-9]\d{0,2})$/.test(after) ? Number(after) : Number.NaN;
  if (!(prefix <= bits.length)) return `must have a prefix length from 0 to ${bits.length}`;
  if (bits.slice(prefix).includes('1')) {
    return `begins within the range of that length. Write the range's first address, or /${bits.length} for a single one`;
  }
  return { ...address, prefix };
};

/** For ranges that are the same and written differently. */
export const rangeKey = ({ text, prefix }: Range): string => `${text}/${prefix}`;

/** False for what is no address. */
export const isWithin = (address: string | undefined, ranges: string[]): boolean => {
  const caller = readAddress(address ?? '');
  if (!caller) return false;
  const list = new BlockList();
  for (const range of ranges.map(readRange)) {
    // A list of both would take an IPv4 address for one of IPv6's ranges too, by its other notation.
    if (typeof range !== 'string' && range.family === caller.family)
      list.addSubnet(range.text, range.prefix, range.family);
  }
  return list.check(caller.text, caller.family);
};
