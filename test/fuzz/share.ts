import { expect } from 'vitest';
import { fuzz, summary } from './fuzz.ts';

const share = { requests: 1500, withinMs: 15_000 };

/** A share of the requests of `npm run fuzz`. */
export const fuzzShare = async (seed: number): Promise<void> => {
  // Without time limits: other tests run in parallel.
  const { asked: requests, findings, statuses } = await fuzz({ seed, ...share, mostMs: Number.POSITIVE_INFINITY });
  expect(summary(findings), `npm run fuzz -- --seed ${seed} --requests ${requests}`).toBe('');
  expect(requests).toBeGreaterThan(100);
  // If nearly all requests were rejected, they would not reach the code behind the checks.
  expect((statuses[200] ?? 0) / requests).toBeGreaterThan(0.1);
};
