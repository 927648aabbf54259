import { readlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

const maxLinks = 40;

/**
 * Whether following the link, and every link in its path, stays inside the tree. A missing target is checked by its
 * name. Links are resolved step by step on disk, because `a/../b` is another path if `a` is a link.
 */
export const staysInside = async (root: string, link: string): Promise<boolean> => {
  let followed = 0;
  let at = dirname(link);
  const steps = [link.slice(dirname(link).length + 1)];
  while (steps.length) {
    const step = steps.shift() as string;
    if (step === '..') {
      if (at === root) return false;
      at = dirname(at);
      continue;
    }
    const next = join(at, step);
    const target = await linkTarget(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    if (target.startsWith(sep) || ++followed > maxLinks) return false;
    steps.unshift(...target.split(sep));
  }
  return !relative(root, at).startsWith('..');
};

const linkTarget = async (path: string): Promise<string | undefined> => {
  try {
    return await readlink(path);
  } catch {
    return undefined;
  }
};
