import { expect } from 'vitest';
import { fuzz, summary } from './fuzz.ts';

const share = { requests: 1500, withinMs: 15_000 };

/** A share of what `npm run fuzz` asks. */
export const fuzzShare = async (seed: number): Promise<void> => {
  // Time is not looked at here: other tests run beside this one.
  const { asked: requests, findings, statuses } = await fuzz({ seed, ...share, mostMs: Number.POSITIVE_INFINITY });
  expect(summary(findings), `npm run fuzz -- --seed ${seed} --requests ${requests}`).toBe('');
  expect(requests).toBeGreaterThan(100);
  // Requests that nothing comes of look at nothing.
  expect((statuses[200] ?? 0) / requests).toBeGreaterThan(0.1);
};
