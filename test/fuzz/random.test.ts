import { it } from 'vitest';
import { fuzzShare } from './share.ts';

/** In a file of its own: each process has one platform. */
it('the platform handles all requests without internal errors, and stores nothing of rejected ones: random seed', () =>
  fuzzShare(Number(process.env.STEPFORM_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))));
