import { readdir, stat } from 'node:fs/promises';
import { processesOf } from './leftover-processes.ts';
import type { Owner } from './owner.ts';

/** Unit of `stat`, regardless of the disk's block size. */
const blockBytes = 512;
/**
 * Maximum of files to check. Terraform opens some hundred; on a full disk, more than this is reason enough to end a
 * command.
 */
const maxFiles = 50_000;

/** Number of bytes and of files. */
export interface Usage {
  bytes: number;
  files: number;
}

/**
 * Disk space of a folder's file system that a user's processes occupy with unlinked files, which are open or mapped.
 * Does not find files that are being passed through a socket.
 */
export const removedFiles = async (folder: string, owner: Owner): Promise<Usage> => {
  const { dev } = await stat(folder);
  const bytesByInode = new Map<number, number>();
  let checked = 0;
  for (const pid of processesOf(owner)) {
    for (const kind of ['fd', 'map_files']) {
      const files = `/proc/${pid}/${kind}`;
      for (const name of await readdir(files).catch(() => [])) {
        if (++checked > maxFiles) return { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY };
        const file = await stat(`${files}/${name}`).catch(() => undefined);
        if (file?.isFile() && file.nlink === 0 && file.dev === dev)
          bytesByInode.set(file.ino, file.blocks * blockBytes);
      }
    }
  }
  return { bytes: [...bytesByInode.values()].reduce((sum, bytes) => sum + bytes, 0), files: bytesByInode.size };
};
