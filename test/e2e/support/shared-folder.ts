import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** Folders that runs on this machine can read and write besides their own (`STEPFORM_ROOM_FOLDERS`). */
export const sharedFolder = (): string => {
  const folder = isRoot ? '/var/lib/stepform-tests' : tmpdir();
  mkdirSync(folder, { recursive: true });
  if (isRoot) chmodSync(folder, 0o711);
  return folder;
};

/** A folder in it, which any user can write. */
export const newSharedFolder = (prefix: string): string => {
  const folder = mkdtempSync(join(sharedFolder(), prefix));
  chmodSync(folder, 0o777);
  return folder;
};
