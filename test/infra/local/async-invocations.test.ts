import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AsyncInvocations } from '#infra/local/aws/lambda/async-invocations.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const start = (failures: number) => {
  const lines: string[] = [];
  const later = new AsyncInvocations((line) => lines.push(line));
  let tries = 0;
  const work = async () => {
    if (++tries <= failures) throw new Error('not now');
  };
  return { later, work, lines, tries: () => tries };
};

describe('an asynchronous invocation', () => {
  it('is retried until it succeeds', async () => {
    const { later, work, lines, tries } = start(2);
    await later.attempt('Notify', work);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries()).toBe(3);
    expect(lines).toEqual([
      'Notify failed (Error: not now); again in 1000 ms',
      'Notify failed (Error: not now); again in 5000 ms',
    ]);
  });

  it('is retried without end while the account has no concurrency left', async () => {
    const { later, lines } = start(0);
    let tries = 0;
    await later.attempt('Notify', async () => {
      tries++;
      if (tries < 20) throw Object.assign(new Error('Rate Exceeded.'), { name: 'TooManyRequestsException' });
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries).toBe(20);
    expect(lines.at(-1)).toBe('Notify failed (TooManyRequestsException: Rate Exceeded.); again in 1000 ms');
  });

  it('is dropped after three attempts', async () => {
    const { later, work, lines, tries } = start(9);
    await later.attempt('Notify', work);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries()).toBe(3);
    expect(lines.at(-1)).toBe('Notify failed (Error: not now); given up');
  });

  it('stops with the platform', async () => {
    const { later, work, tries } = start(9);
    await later.attempt('Notify', work);
    later.close();
    await vi.advanceTimersByTimeAsync(60_000);
    await later.attempt('Notify', work);
    expect(tries()).toBe(1);
  });
});
