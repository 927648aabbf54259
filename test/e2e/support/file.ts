import { afterAll, inject } from 'vitest';
import { checkNothingWasDenied, denials } from './denials.ts';

/** Around every file of tests of a whole platform. */

const { dataDir } = inject('platform');
if (dataDir) {
  const before = denials(dataDir);
  afterAll(() => checkNothingWasDenied(dataDir, before));
}
