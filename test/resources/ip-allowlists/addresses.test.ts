import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWithin, readAddress, readRange } from '#resources/ip-allowlists/addresses.ts';

describe('ranges', () => {
  it.each([
    '0.0.0.0/0',
    '10.0.0.0/8',
    '203.0.113.7/32',
    '::/0',
    '2001:db8::/32',
    '2001:DB8:0:0:0:0:0:0/32',
    '2001:db8::1/128',
  ])('accepts %s', (text) => {
    expect(readRange(text)).toEqual(expect.objectContaining({ prefix: Number(text.split('/')[1]) }));
  });

  it.each([
    ['', /CIDR notation/],
    ['10.0.0.0/8/8', /CIDR notation/],
    ['10.0.0/8', /CIDR notation/],
    ['010.0.0.0/8', /CIDR notation/],
    ['example.com/8', /CIDR notation/],
    [' 10.0.0.0/8', /CIDR notation/],
    ['fe80::1%eth0/64', /CIDR notation/],
    ['203.0.113.7', /write 203\.0\.113\.7\/32/],
    ['2001:db8::1', /write 2001:db8::1\/128/],
    ['10.0.0.0/33', /from 0 to 32/],
    ['10.0.0.0/08', /from 0 to 32/],
    ['10.0.0.0/-1', /from 0 to 32/],
    ['10.0.0.0/', /from 0 to 32/],
    ['2001:db8::/129', /from 0 to 128/],
    ['10.0.0.1/8', /first address/],
    ['2001:db8::1/64', /first address/],
    ['::ffff:10.0.0.0/104', /as IPv4, 10\.0\.0\.0/],
    ['::ffff:a00:0/104', /as IPv4, 10\.0\.0\.0/],
  ])('rejects %j with the expected notation', (text, problem) => {
    expect(readRange(text)).toMatch(problem);
  });
});

describe('addresses', () => {
  it('in IPv4-mapped IPv6 notation equal IPv4 addresses', () => {
    for (const text of ['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:c000:0201']) {
      expect(readAddress(text)).toEqual({ family: 'ipv4', text: '192.0.2.1' });
    }
    expect(isWithin('::ffff:192.0.2.1', ['192.0.2.0/24'])).toBe(true);
    expect(isWithin('::ffff:198.51.100.1', ['192.0.2.0/24'])).toBe(false);
    // The range of all IPv6 addresses does not include IPv4.
    expect(isWithin('::ffff:192.0.2.1', ['::/0'])).toBe(false);
    expect(isWithin('192.0.2.1', ['::/0'])).toBe(false);
  });

  it('that are invalid are in no range', () => {
    for (const text of [undefined, '', 'unknown', '192.0.2.1, 10.0.0.1', '192.0.2.1:443', 'fe80::1%eth0', '0x7f.1']) {
      expect([text, isWithin(text, ['0.0.0.0/0', '::/0'])]).toEqual([text, false]);
    }
  });

  it('are within exactly those IPv4 ranges that share the first bits', () => {
    const numeric = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
    const written = (n: number) => [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join('.');
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, base, prefix) => {
        const size = 2 ** (32 - prefix);
        const first = Math.floor(numeric(base) / size) * size;
        const inside = numeric(address) >= first && numeric(address) < first + size;
        expect(isWithin(address, [`${written(first)}/${prefix}`])).toBe(inside);
        expect(isWithin(`::ffff:${address}`, [`${written(first)}/${prefix}`])).toBe(inside);
      }),
    );
  });

  it('of IPv6 are within their own range, and no IPv4 range', () => {
    expect(isWithin('2001:db8:1::5', ['2001:db8::/32'])).toBe(true);
    expect(isWithin('2001:db9::', ['2001:db8::/32'])).toBe(false);
    expect(isWithin('2001:db8:1::5', ['0.0.0.0/0'])).toBe(false);
  });
});
