import { readdir, stat } from 'node:fs/promises';
import { processesOf } from './leftover-processes.ts';
import type { Owner } from './owner.ts';

/** Blocks of `stat`, whatever those of the disk are. */
const blockBytes = 512;
/** Looked at. Terraform has some hundred; that a command has more on a full disk is enough to know. */
const maxFiles = 50_000;

/** Bytes, and files. */
export interface Usage {
  bytes: number;
  files: number;
}

/**
 * What a user's processes keep on the disk of a folder in files without a name, which are open or mapped. Not seen: files that are on
 * their way through a socket.
 */
export const removedFiles = async (folder: string, owner: Owner): Promise<Usage> => {
  const { dev } = await stat(folder);
  const found = new Map<number, number>();
  let looked = 0;
  for (const pid of processesOf(owner)) {
    for (const kind of ['fd', 'map_files']) {
      const files = `/proc/${pid}/${kind}`;
      for (const name of await readdir(files).catch(() => [])) {
        if (++looked > maxFiles) return { bytes: Number.POSITIVE_INFINITY, files: Number.POSITIVE_INFINITY };
        const file = await stat(`${files}/${name}`).catch(() => undefined);
        if (file?.isFile() && file.nlink === 0 && file.dev === dev) found.set(file.ino, file.blocks * blockBytes);
      }
    }
  }
  return { bytes: [...found.values()].reduce((sum, bytes) => sum + bytes, 0), files: found.size };
};
