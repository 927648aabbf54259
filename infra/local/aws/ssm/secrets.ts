import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterDamage, StartError } from './errors.ts';

/** 32 random bytes that outlive restarts, in a file that only its owner reads. */
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

/** Replaces a file whole or not at all; only its owner may read it. */
export const writePrivately = (file: string, content: string): void => {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
};
