import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Entries unused for this long are removed. */
const keptMs = 30 * 24 * 3600_000;

const sizeOf = (path: string): number => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
};

/**
 * Removes entries that have been unused for that long (by their modification time), and the least recently used ones
 * beyond the limit.
 */
export const prune = (folder: string, maxBytes: number): void => {
  const entries = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, usedMs: lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.usedMs - a.usedMs);
  let bytes = 0;
  for (const { path, usedMs } of entries) {
    bytes += sizeOf(path);
    if (usedMs < Date.now() - keptMs || bytes > maxBytes) rmSync(path, { recursive: true, force: true });
  }
};
