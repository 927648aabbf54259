import { statfs } from 'node:fs/promises';
import { help } from './launch.ts';
import type { Owner } from './owner.ts';
import { bytesOfRemovedFiles } from './removed-files.ts';

/** Ends a run that fills the disk which it shares with others: users of rooms have no quota. */

const gibibyte = 2 ** 30;
/** What a run leaves free: this much, or this part of a small disk. */
const reserveBytes = 2 * gibibyte;
const reservePart = 0.05;
const everyMs = 500;
/** `du` counts in these. */
const kibibyte = 1024;

const gibibytes = (bytes: number): string =>
  Number.isFinite(bytes) ? `${(bytes / gibibyte).toFixed(1)} GiB` : 'an unknown size';

interface Fullness {
  why: string;
  /** Less than half of the reserve is left. */
  urgent: boolean;
}

/** @returns why the run is to end; undefined while there is room, or when others have filled the disk */
const fullnessOf = async (folder: string, owner: Owner): Promise<Fullness | undefined> => {
  const { bsize, blocks, bavail, files, ffree } = await statfs(folder);
  const reserve = Math.min(reserveBytes, bsize * blocks * reservePart);
  const [free, reserveFiles] = [bsize * bavail, files * reservePart];
  const lacksFiles = files > 0 && ffree < reserveFiles;
  if (free >= reserve && !lacksFiles) return undefined;
  const named = Number((await help('du', ['-skx', folder])).split('\t')[0]) * kibibyte;
  const used = named + (await bytesOfRemovedFiles(folder, owner));
  if (used < reserve && !lacksFiles) return undefined;
  const why =
    `The run was ended because it fills the runner's disk: its files take ${gibibytes(used)}, and ${gibibytes(free)} ` +
    `${lacksFiles ? `and ${ffree} files ` : ''}are left. Write less, or run it on a machine with a larger disk.`;
  return { why, urgent: free < reserve / 2 || (lacksFiles && ffree < reserveFiles / 2) };
};

interface Ends {
  /** Called once, so that an apply can finish and record what it has begun. */
  interrupt(why: string): void;
  /** Called once, when the disk keeps filling up. */
  kill(why: string): void;
}

/** @param owner of the processes that may fill it @returns a function that ends the watch */
export const watchDisk = (folder: string, owner: Owner, ends: Ends): (() => void) => {
  let looking = false;
  let isInterrupted = false;
  const look = async (): Promise<void> => {
    const full = await fullnessOf(folder, owner);
    if (!full) return;
    if (!isInterrupted) ends.interrupt(full.why);
    isInterrupted = true;
    if (!full.urgent) return;
    clearInterval(timer);
    ends.kill(full.why);
  };
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) => console.error(`The disk of ${folder} is not watched: ${String(error)}`))
      .finally(() => {
        looking = false;
      });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};
