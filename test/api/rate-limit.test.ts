import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Count, RateLimit } from '#api/rate-limit.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { taskHelpers } from '#test/support/task-stages.ts';

const api = await startApi();
const { networkOf } = await import('#api/admission.ts');

const limit = 30;

describe('the rate limit', () => {
  /** Counts in memory, like the table. */
  const counter = () => {
    const sums = new Map<string, number>();
    let writes = 0;
    const count: Count = async (caller, second, requests) => {
      writes++;
      const key = `${caller} ${second}`;
      sums.set(key, (sums.get(key) ?? 0) + requests);
      return sums.get(key) as number;
    };
    return { count, writes: () => writes };
  };
  const admittedOf = async (instances: RateLimit[], requests: number[], now: number, caller = 'a') => {
    const answers = await Promise.all(requests.map((i) => (instances[i] as RateLimit).admit(caller, now)));
    return answers.filter(({ admitted }) => admitted).length;
  };
  const times = (n: number, instance = 0) => Array<number>(n).fill(instance);

  it('is exact per caller and second with one instance', async () => {
    const { count } = counter();
    const one = new RateLimit(limit, count);
    expect(await admittedOf([one], times(limit), 5_000)).toBe(limit);
    expect(await one.admit('a', 5_600)).toEqual({ admitted: false, limit, remaining: 0, resetMs: 400 });
    expect((await one.admit('b', 5_600)).admitted).toBe(true);
    expect(await one.admit('a', 6_000)).toMatchObject({ admitted: true, remaining: limit - 1 });
  });

  it('costs no write for callers below a third of it', async () => {
    const { count, writes } = counter();
    const one = new RateLimit(limit, count);
    for (let second = 0; second < 20; second++) await admittedOf([one], times(limit / 3), second * 1_000);
    expect(writes()).toBe(0);
    await admittedOf([one], times(limit), 100_000);
    expect(writes()).toBe(2);
  });

  it("is exceeded at most by each instance's share, and only in the first second", async () => {
    const requests = fc.array(fc.nat(7), { minLength: 150, maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(requests, async (order) => {
        const { count } = counter();
        const instances = Array.from({ length: 8 }, () => new RateLimit(limit, count));
        const share = limit / 3;
        expect(await admittedOf(instances, order, 1_000)).toBeLessThanOrEqual(limit + instances.length * share);
        // Every instance rejects requests, and so has no share of its own for a while.
        for (const [i] of instances.entries()) await admittedOf(instances, times(limit + share, i), 2_000);
        for (const second of [3, 4, 5]) expect(await admittedOf(instances, order, second * 1_000)).toBe(limit);
      }),
      { numRuns: 50 },
    );
  });

  it('falls back to a limit per instance while the shared count is unavailable', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const one = new RateLimit(limit, () => Promise.reject(new Error('throttled')));
    expect(await admittedOf([one], times(50), 0)).toBe(limit);
  });
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('counts address %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

describe("the API's rate limit", () => {
  beforeAll(() => {
    process.env.REQUESTS_PER_SECOND = String(limit);
  });
  afterAll(() => api.close());

  /** Each test has its own seconds, and advances the clock itself. */
  let now = Date.parse('2030-01-01T00:00:00.250Z');
  const pass = (ms: number) => {
    now += ms;
    vi.useFakeTimers({ now, toFake: ['Date'] });
  };
  afterEach(() => {
    vi.useRealTimers();
    now += 60_000;
  });
  const statuses = async (n: number, token: string | null) => {
    const all = await Promise.all(Array.from({ length: n }, () => api.get('account/details', { token })));
    return all.map(({ status }) => status).sort();
  };
  const allOf = (n: number, status: number) => Array<number>(n).fill(status);

  it('rejects a user with 429 across all of their tokens until the second is over', async () => {
    pass(0);
    const { createToken } = await import('#resources/users/tokens.ts');
    const other = (await createToken(api.userId, '')).secret;
    // From now on the instance knows the owner of the tokens.
    await Promise.all([statuses(1, api.token), statuses(1, other)]);
    expect(await statuses(20, api.token)).toEqual(allOf(20, 200));
    expect(await statuses(20, other)).toEqual([...allOf(10, 200), ...allOf(10, 429)]);
    const before = api.aws.calls;
    const refused = await api.get('account/details');
    expect(api.aws.calls - before).toBe(0);
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit': '30',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '0.750',
      'x-content-type-options': 'nosniff',
    });
    expect(refused.body.errors).toEqual([
      { status: '429', title: 'Too many requests', detail: expect.stringMatching(/30 requests per second/) },
    ]);
    pass(1_000);
    const again = await api.get('account/details');
    expect([again.status, again.headers['x-ratelimit-remaining']]).toEqual([200, '29']);
  });

  it('counts requests without a valid token by source address', async () => {
    pass(0);
    expect(await statuses(20, null)).toEqual(allOf(20, 401));
    const guesses = await Promise.all(Array.from({ length: 20 }, (_, i) => statuses(1, `sfu_guess-${i}`)));
    expect(guesses.flat().sort()).toEqual([...allOf(10, 401), ...allOf(10, 429)]);
    expect((await api.get('account/details', { token: null, address: '198.51.100.1' })).status).toBe(401);
    expect(await statuses(1, api.token)).toEqual([200]);
  });

  it('admits valid tokens that it has not seen yet while an address sends invalid ones', async () => {
    const { createToken } = await import('#resources/users/tokens.ts');
    const fresh = [(await createToken(api.userId, '')).secret, (await createToken(api.userId, '')).secret];
    pass(0);
    const guesses = await Promise.all(Array.from({ length: 60 }, (_, i) => statuses(1, `sfu_guess-${i}`)));
    expect(guesses.flat().sort()).toEqual([...allOf(30, 401), ...allOf(30, 429)]);
    expect(await statuses(1, fresh[0] as string)).toEqual([200]);
    // They count for their user, who has reached the limit.
    expect(await statuses(40, fresh[1] as string)).toEqual([...allOf(29, 200), ...allOf(11, 429)]);
  });

  /** A run task that a run has requested, and the status of the response to a callback of it. */
  const requestedTask = async () => {
    const runs = await runHelpers(api);
    const help = await taskHelpers();
    const task = await help.task();
    const run = await runs.create((await runs.ready()).id);
    const { result } = await help.stageOf(run.id, task.id);
    await runs.bring(run.id, { status: 'post_plan_running' });
    pass(0);
    const { accessToken } = await help.ask(result);
    const callback = async (token: string) => {
      const body = { data: { type: 'task-results', attributes: { status: 'running' } } };
      return (await api.call('PATCH', `task-results/${result}/callback`, { token, body })).status;
    };
    return { accessToken, callback };
  };

  it('admits the token of a run task while invalid ones name its result', async () => {
    const { accessToken, callback } = await requestedTask();
    const forged = accessToken.replace(/\..*/, `.${'x'.repeat(43)}`);
    const guesses = [];
    for (let n = 0; n < 40; n++) guesses.push(await callback(forged));
    expect(guesses).toEqual([...allOf(30, 401), ...allOf(10, 429)]);
    expect(await callback(accessToken)).toBe(200);
  });

  it('counts run task callbacks by task result, not by source address', async () => {
    const { accessToken, callback } = await requestedTask();
    // The address has reached its limit for this second.
    expect(await statuses(31, null)).toEqual([...allOf(30, 401), 429]);
    // A token of another result: the first character of its id differs.
    const forged = accessToken
      .replace(/(?<=^sft_)./, (first) => (first === '1' ? '2' : '1'))
      .replace(/\..*/, `.${'x'.repeat(43)}`);
    expect(await callback(accessToken)).toBe(200);
    const guesses = [];
    for (let n = 0; n < 40; n++) guesses.push(await callback(forged));
    expect(guesses).toEqual([...allOf(30, 401), ...allOf(10, 429)]);
    expect(await callback(accessToken)).toBe(200);
    expect(await statuses(1, null)).toEqual([429]);
  });

  it('does not count runs that read state by source address', async () => {
    pass(0);
    expect(await statuses(31, null)).toEqual([...allOf(30, 401), 429]);
    const ofRuns = Array.from({ length: 40 }, (_, n) => `sfr_${String(n).padStart(16, '0')}.plan.${'x'.repeat(43)}`);
    const answers = await Promise.all(ofRuns.map((token) => statuses(1, token)));
    expect(answers.flat()).toEqual(allOf(40, 401));
  });
});
