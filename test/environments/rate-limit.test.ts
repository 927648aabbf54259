import { expect, it, vi } from 'vitest';
import { startEnvironments } from './support.ts';

const world = await startEnvironments();
process.env.REQUESTS_PER_SECOND = '10';

it('requests are counted per minute, because coder sends them in bursts without retries', async () => {
  const at = (time: string) => vi.useFakeTimers({ now: Date.parse(time), toFake: ['Date'] });
  const statuses = async (n: number) =>
    (await Promise.all(Array.from({ length: n }, () => world.call('GET', '/users/me')))).map(({ status }) => status);
  at('2030-01-01T00:00:20.000Z');
  // From now on the instance knows the owner of the token.
  expect(await statuses(1)).toEqual([200]);
  expect(new Set(await statuses(600))).toEqual(new Set([200]));
  const refused = await world.call('GET', '/users/me');
  expect(refused).toMatchObject({
    status: 429,
    body: { message: "You've been rate limited. Wait 40 s, then retry." },
    headers: { 'retry-after': '40', 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '0' },
  });
  at('2030-01-01T00:01:00.000Z');
  expect(await statuses(1)).toEqual([200]);
});
