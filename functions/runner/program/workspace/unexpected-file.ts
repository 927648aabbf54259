import type { Stats } from 'node:fs';
import { PhaseError } from '../errors.ts';

/**
 * An entry in a folder of the run has another type, owner or size than the runner requires. The message is for the
 * run's owner.
 */
export class UnexpectedFileError extends PhaseError {
  override name = 'UnexpectedFileError';

  constructor(what: string, is: string) {
    super(
      `${what} is ${is}: code of the configuration, a module or a provider must have put it there. The runner did not use it. ` +
        'Remove that code, and start a new run.',
    );
  }
}

export const kindOf = (stats: Stats): string => {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isFile() ? 'a file' : 'a socket or a device';
};
