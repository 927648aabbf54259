import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 and IPv6 addresses and ranges. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) counts as its IPv4 address. */

type Family = 'ipv4' | 'ipv6';

interface Address {
  family: Family;
  text: string;
}

const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Canonical notation of an IPv6 address (RFC 5952), as in URLs. */
const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** Undefined for text that is not an address, and for addresses with a zone. */
export const readAddress = (text: string): Address | undefined => {
  if (isIPv4(text)) return { family: 'ipv4', text };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const address = canonical(text);
  const [, high, low] = mapped.exec(address) ?? [];
  if (!high || !low) return { family: 'ipv6', text: address };
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return { family: 'ipv4', text: `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}` };
};

/** The address as a string of bits. */
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
 * @returns the mistake and its correction when the text is not a range
 */
export const readRange = (text: string): Range | string => {
  const [before = '', after, ...rest] = text.split('/');
  const address = readAddress(before);
  if (!address || rest.length > 0) return 'must be a range in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32';
  if (address.family === 'ipv4' && before.includes(':')) {
    return `must be written as IPv4, ${address.text}/…, because an IPv4-mapped IPv6 address is treated as IPv4`;
  }
  const bits = bitsOf(address);
  if (after === undefined) return `has no prefix length: write ${text.trim()}/${bits.length} for a single address`;
  const prefix = /^(0|[1-9]\d{0,2})$/.test(after) ? Number(after) : Number.NaN;
  if (!(prefix <= bits.length)) return `must have a prefix length from 0 to ${bits.length}`;
  if (bits.slice(prefix).includes('1')) {
    return `must begin with the first address of the range. Use /${bits.length} for a single address`;
  }
  return { ...address, prefix };
};

/** The same for equal ranges in different notations. */
export const rangeKey = ({ text, prefix }: Range): string => `${text}/${prefix}`;

/** False when the text is not an address. */
export const isWithin = (address: string | undefined, ranges: string[]): boolean => {
  const caller = readAddress(address ?? '');
  if (!caller) return false;
  const list = new BlockList();
  for (const range of ranges.map(readRange)) {
    // A BlockList of both families would match an IPv4 address against IPv6 ranges through its mapped notation.
    if (typeof range !== 'string' && range.family === caller.family)
      list.addSubnet(range.text, range.prefix, range.family);
  }
  return list.check(caller.text, caller.family);
};
