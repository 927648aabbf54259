import { expect, it } from 'vitest';
import { readSettings } from '#infra/settings/settings.ts';
import { localIpRangeVariables } from '#infra/stack/ip-ranges.ts';
import { eventOf, startApi } from '#test/support/api.ts';

await startApi();

const read = async () => {
  const { handler } = await import('#public-api/api.ts');
  const event = eventOf('GET', '/api/meta/ip-ranges');
  const { statusCode, body } = (await handler(event, {} as never)) as { statusCode: number; body: string };
  return [statusCode, JSON.parse(body)];
};

it('IP ranges are returned to any caller, as the operator has set them', async () => {
  expect(await read()).toEqual([200, { api: [], notifications: [], sentinel: [], vcs: [] }]);
  process.env.API_IP_RANGES = '198.51.100.0/24';
  process.env.OUTGOING_IP_RANGES = '203.0.113.7/32,2001:db8::/32';
  const outgoing = ['203.0.113.7/32', '2001:db8::/32'];
  expect(await read()).toEqual([
    200,
    { api: ['198.51.100.0/24'], notifications: outgoing, sentinel: outgoing, vcs: outgoing },
  ]);
  delete process.env.API_IP_RANGES;
  delete process.env.OUTGOING_IP_RANGES;
});

it('IP ranges are not sent again with a matching ETag', async () => {
  const { handler } = await import('#public-api/api.ts');
  const since = async (date: Date) => {
    const event = eventOf('GET', '/api/meta/ip-ranges', { headers: { 'if-modified-since': date.toUTCString() } });
    const { statusCode, body } = (await handler(event, {} as never)) as { statusCode: number; body?: string };
    return [statusCode, Boolean(body)];
  };
  expect(await since(new Date(Date.now() + 120_000))).toEqual([304, false]);
  expect(await since(new Date(Date.now() - 3_600_000))).toEqual([200, true]);
});

it('invalid IP ranges fail the deployment', () => {
  expect(readSettings({ outgoingIpRanges: '203.0.113.7/32' }).outgoingIpRanges).toEqual(['203.0.113.7/32']);
  expect(() => readSettings({ apiIpRanges: ['203.0.113.7'] })).toThrow(/apiIpRanges.*must be ranges of addresses/);
});

it('IP ranges are loopback by default on one machine, without its other addresses', () => {
  const { API_IP_RANGES, OUTGOING_IP_RANGES } = localIpRangeVariables({});
  expect(API_IP_RANGES).toBe('127.0.0.1/32,::1/128');
  expect(OUTGOING_IP_RANGES).toBe(API_IP_RANGES);
  const set = localIpRangeVariables({
    STEPFORM_API_IP_RANGES: '10.0.0.0/8',
    STEPFORM_OUTGOING_IP_RANGES: '10.1.0.0/16',
  });
  expect(set).toEqual({ API_IP_RANGES: '10.0.0.0/8', OUTGOING_IP_RANGES: '10.1.0.0/16' });
  expect(() => localIpRangeVariables({ STEPFORM_API_IP_RANGES: 'here' })).toThrow(
    'STEPFORM_API_IP_RANGES must be ranges of addresses, e.g. 10.1.0.0/16 (it is here)',
  );
});
