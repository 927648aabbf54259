import { chmodSync, copyFileSync, linkSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { give, makeFolder } from '../workspace/tree.ts';
import { isHidden, isPassable } from './machine.ts';
import type { User } from './users.ts';

/** Files of the machine that Terraform needs but its user cannot read, mostly because they are root's. */

const readByOthers = 0o004;

/**
 * Path of a file with the same content that the user can read.
 * @param folder for the copy
 */
export const reachable = (file: string, folder: string, { owner, room }: User): string => {
  if (!owner) return file;
  const real = realpathSync(file);
  const isSeen = (path: string) => isPassable(dirname(path)) && !(room && isHidden(path));
  if (statSync(real).mode & readByOthers && isSeen(real) && isSeen(file)) return file;
  makeFolder(folder, 0o755);
  const copy = join(folder, basename(file));
  copyFileSync(real, copy);
  chmodSync(copy, 0o644);
  return copy;
};

/**
 * A provider cache for the user: the machine's providers, and private space for more.
 * @returns undefined if its files would have to be copied
 */
export const reachableCache = (cache: string, folder: string, { owner }: User): string | undefined => {
  if (!owner) return cache;
  const link = (from: string, to: string): void => {
    makeFolder(to, 0o755);
    give(to, owner);
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) link(source, target);
      else if (entry.isFile()) linkSync(source, target);
    }
  };
  try {
    link(cache, folder);
    return folder;
  } catch (error) {
    console.error(`TF_PLUGIN_CACHE_DIR is not used: ${(error as Error).message}`);
    return undefined;
  }
};
