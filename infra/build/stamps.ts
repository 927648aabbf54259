import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '#platform/program.ts';

/** Records of what was built from which input. The package has them too, beside its outputs. */

/** Folder of all outputs. */
export const build = join(root, '.build');

export interface Stamp<T> {
  /** Hash of what it was built from. */
  input: string;
  /** Hash of the lock file. */
  lock: string;
  value: T;
}

/** Replaces the root in paths inside stamps, because the folder may be copied. */
const here = '<root>/';
const fromRoot = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.startsWith(`${root}/`) ? here + value.slice(root.length + 1) : value;
const absolute = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.startsWith(here) ? join(root, value.slice(here.length)) : value;

const fileOf = (name: string): string => join(build, `${name}.json`);

export const readStamp = <T>(name: string): Stamp<T> | undefined =>
  existsSync(fileOf(name)) ? (JSON.parse(readFileSync(fileOf(name), 'utf8'), absolute) as Stamp<T>) : undefined;

export const writeStamp = <T>(name: string, stamp: Stamp<T>): Promise<void> =>
  writeFile(fileOf(name), JSON.stringify(stamp, fromRoot));
