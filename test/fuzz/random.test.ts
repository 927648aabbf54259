import { it } from 'vitest';
import { fuzzShare } from './share.ts';

/** In a file of its own: the platform is one for each process. */
it('answers everything without a failure inside, and leaves nothing behind of what it refuses: random seed', () =>
  fuzzShare(Number(process.env.STEPFORM_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))));
