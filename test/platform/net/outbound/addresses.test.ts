import { describe, expect, it } from 'vitest';
import { allowedAddresses, isAllowed, readCidr } from '#platform/net/outbound/addresses.ts';

const may = (address: string, allowed: string[] = []) => isAllowed(address, allowed);

describe('requests', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '169.253.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:800::200e',
  ])('are allowed to the public address %s', (address) => {
    expect(may(address)).toBe(true);
  });

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback', '::1'],
    ['unspecified', '0.0.0.0'],
    ['unspecified', '::'],
    ['this network', '0.1.2.3'],
    ['metadata of AWS, link-local', '169.254.169.254'],
    ['credentials of containers, link-local', '169.254.170.2'],
    ['metadata of AWS, unique local', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['unique local', 'fc00::1'],
    ['carriers’ NAT', '100.64.0.1'],
    ['metadata of Alibaba, carriers’ NAT', '100.100.100.200'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['protocol assignments', '192.0.0.8'],
    ['documentation', '203.0.113.7'],
    ['documentation', '2001:db8::1'],
    ['benchmarks', '198.18.0.1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped metadata', '::ffff:a9fe:a9fe'],
    ['mapped, of the internet all the same', '::ffff:8.8.8.8'],
    ['compatible', '::7f00:1'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['Teredo', '2001:0:7f00:1::'],
    ['no address', 'localhost'],
    ['no address', ''],
  ])('are rejected to the private address %s (%s)', (_, address) => {
    expect(may(address)).toBe(false);
  });

  it('are allowed to private ranges of the operator, and to no other private addresses', () => {
    const allowed = ['10.1.0.0/16', 'fd12:3456::/32'];
    expect(['10.1.2.3', 'fd12:3456::1', '8.8.8.8'].map((address) => may(address, allowed))).toEqual([true, true, true]);
    expect(['10.2.0.1', 'fd12:3457::1', '169.254.169.254'].map((address) => may(address, allowed))).toEqual([
      false,
      false,
      false,
    ]);
  });
});

it.each(['10.0.0.0', '10.0.0.0/33', '::/129', 'example.com/8', '10.0.0.0/-1', '/8', '10.0.0/8', ''])(
  'the range %j is rejected',
  (text) => {
    expect(readCidr(text)).toBeUndefined();
  },
);

describe('the address of a host', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://[::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://①②⑦.0.0.1/',
    'http://localhost/',
  ])('is recognized as private in any notation: %s', async (url) => {
    await expect(allowedAddresses(new URL(url).hostname)).rejects.toMatchObject({
      failure: 'forbidden',
      message: expect.stringContaining('outboundAllowedCidrs'),
    });
  });

  it('is reported as not found', async () => {
    await expect(allowedAddresses('no-such-host.invalid')).rejects.toMatchObject({ failure: 'unreachable' });
  });
});

it.each([
  ['10.0.0.0/32', { address: '10.0.0.0', prefix: 32, family: 'ipv4' }],
  ['0.0.0.0/0', { address: '0.0.0.0', prefix: 0, family: 'ipv4' }],
  ['fd00::/64', { address: 'fd00::', prefix: 64, family: 'ipv6' }],
  ['::1/128', { address: '::1', prefix: 128, family: 'ipv6' }],
])('%s is a CIDR range', (text, range) => {
  expect(readCidr(text)).toEqual(range);
});
