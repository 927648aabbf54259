import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';

/** Flags of open(2) that do not follow links and do not block. */
export const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
export const folderOnly = readOnly | constants.O_DIRECTORY;

/** Whether `/proc/self/fd/N` is the open folder N: on Linux with /proc. */
export const hasHandles = ((): boolean => {
  if (process.platform !== 'linux') return false;
  const handle = openSync('/', folderOnly);
  try {
    return statSync(`/proc/self/fd/${handle}/.`).ino === fstatSync(handle).ino;
  } catch {
    return false;
  } finally {
    closeSync(handle);
  }
})();

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
