import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition, checked every 10 ms; throws if it is not met in time. */
export const until = async <T>(what: string, condition: () => T, ms = 15_000): Promise<NonNullable<T>> => {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await sleep(10);
  }
};
