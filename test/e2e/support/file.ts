import { afterAll, inject } from 'vitest';
import { checkNothingWasDenied, denials } from './denials.ts';
import { isRoot, sharedFolder } from './shared-folder.ts';

/** Hooks of every test file that uses a whole platform. */

// For platforms in the test's own process.
if (isRoot) process.env.STEPFORM_ROOM_FOLDERS = sharedFolder();

const { dataDir } = inject('platform');
if (dataDir) {
  const before = denials(dataDir);
  afterAll(() => checkNothingWasDenied(dataDir, before));
}
