import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterDamage, StartError } from '#infra/local/host/errors.ts';

/** 32 random bytes that survive restarts, in a file that only its owner can read. */
export const keptSecret = (file: string): Buffer => {
  try {
    const kept = Buffer.from(readFileSync(file, 'utf8'), 'hex');
    if (kept.length === 32) return kept;
    throw new StartError(`${file} is damaged. ${afterDamage}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const made = randomBytes(32);
    writePrivately(file, made.toString('hex'));
    return made;
  }
};

/**
 * Replaces a file atomically, even on a power failure, which could otherwise leave an empty file; only its owner can
 * read it. For files that a start needs.
 */
export const writePrivately = (file: string, content: string): void => {
  const part = `${file}.new`;
  const descriptor = openSync(part, 'w', 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(part, file);
  flushFolder(dirname(file));
};

/** The parameter names in it. */
const flushFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/**
 * JSON that a start needs; undefined if the file does not exist.
 * @param remedy for a file that is empty or damaged
 * @throws StartError
 */
export const readSteering = <T>(file: string, remedy: string): T | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartError(`${file} cannot be read: ${(error as Error).message}. ${remedy}`);
  }
};
