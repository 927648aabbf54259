import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from './errors.ts';

/** Folders in which the platform must be able to write: the database, large objects, and records of tasks. */
const folders = ['.', 's3', 'tasks'];
/** Larger than the free space in the blocks of existing files. */
const sample = Buffer.alloc(64 * 1024);
/** The result is cached for this long, so that frequent checks cost no more. */
const keptMs = 1000;

export interface Health {
  status: 'ok' | 'failing';
  /** What cannot be written, and the remedy. */
  failures?: string[];
}

/**
 * Whether the platform can work, for load balancers and the like: writes a row, and a file in each of its folders. A
 * disk that is full, has no free inodes or is read-only fails the check, and so does a missing folder.
 */
export class HealthCheck {
  readonly #folder: string;
  readonly #writeRow: () => void;
  #last: { at: number; health: Health } | undefined;

  constructor(folder: string, writeRow: () => void) {
    this.#folder = folder;
    this.#writeRow = writeRow;
  }

  check(): Health {
    const now = performance.now();
    if (!this.#last || now - this.#last.at > keptMs) this.#last = { at: now, health: this.#look() };
    return this.#last.health;
  }

  #look(): Health {
    const failures = [
      failureOf('the database', this.#writeRow),
      ...folders.map((name) => {
        const folder = join(this.#folder, name);
        return failureOf(name === '.' ? 'the data folder' : `${name} in the data folder`, () => writeFile(folder));
      }),
    ].filter((failure) => failure !== undefined);
    return failures.length > 0 ? { status: 'failing', failures } : { status: 'ok' };
  }
}

const failureOf = (what: string, write: () => void): string | undefined => {
  try {
    write();
    return undefined;
  } catch (error) {
    return `${what} cannot be written: ${reasonOf(error) ?? (error as Error).message}`;
  }
};

const writeFile = (folder: string): void => {
  const file = join(folder, `health-${randomBytes(6).toString('hex')}.new`);
  try {
    const descriptor = openSync(file, 'wx', 0o600);
    try {
      writeSync(descriptor, sample);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } finally {
    rmSync(file, { force: true });
  }
};
