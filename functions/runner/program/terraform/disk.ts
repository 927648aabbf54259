import { statfs } from 'node:fs/promises';
import { help } from './launch.ts';
import type { Owner } from './owner.ts';
import { removedFiles, type Usage } from './removed-files.ts';

/** Ends a run that fills a disk which it shares with others: users of rooms have no quota. */

const gibibyte = 2 ** 30;
/** Minimum of free space: this much, or this part of a small disk. */
const reserveBytes = 2 * gibibyte;
const reservePart = 0.05;
const everyMs = 500;
/** Unit of `du`. */
const kibibyte = 1024;
/** If counting takes longer, the run has so many files that it must be the cause. */
const countMs = 10_000;

const gibibytes = (bytes: number): string =>
  Number.isFinite(bytes) ? `${(bytes / gibibyte).toFixed(1)} GiB` : 'an unknown size';

interface Fullness {
  why: string;
  /** Less than half of the reserve is left. */
  urgent: boolean;
}

const counted = async (folder: string, flags: string[]): Promise<number> => {
  // `du` also fails, with its result, if files are removed meanwhile.
  const output = await help('du', [...flags, folder], { timeout: countMs }).catch((error) =>
    String(error.stdout ?? ''),
  );
  return /^\d+\t/.test(output) ? Number.parseInt(output, 10) : Number.POSITIVE_INFINITY;
};

/** Disk space and files that a run uses on the disk of its folder. */
const usageOf = async (folder: string, owner: Owner): Promise<Usage> => {
  const [kibibytes, files, removed] = await Promise.all([
    counted(folder, ['-skx']),
    counted(folder, ['-sx', '--inodes']),
    removedFiles(folder, owner),
  ]);
  return { bytes: kibibytes * kibibyte + removed.bytes, files: files + removed.files };
};

/** @returns why the run must end; undefined while the reserve is free, or if other programs have filled the disk */
const fullnessOf = async (folder: string, owner: Owner): Promise<Fullness | undefined> => {
  const { bsize, blocks, bavail, files, ffree } = await statfs(folder);
  const free: Usage = { bytes: bsize * bavail, files: files > 0 ? ffree : Number.POSITIVE_INFINITY };
  const reserve: Usage = { bytes: Math.min(reserveBytes, bsize * blocks * reservePart), files: files * reservePart };
  if (free.bytes >= reserve.bytes && free.files >= reserve.files) return undefined;
  const used = await usageOf(folder, owner);
  const fills = (['bytes', 'files'] as const).filter(
    (kind) => free[kind] < reserve[kind] && used[kind] >= reserve[kind],
  );
  if (fills.length === 0) return undefined;
  const why =
    `The run was ended because it fills the runner's disk: its files take ${gibibytes(used.bytes)}, and ${gibibytes(free.bytes)} ` +
    `${fills.includes('files') ? `and ${free.files} files ` : ''}are left. Write less, or run it on a machine with a larger disk.`;
  return { why, urgent: fills.some((kind) => free[kind] < reserve[kind] / 2) };
};

interface Ends {
  /** Called once, so that an apply can finish and record its open changes. */
  interrupt(why: string): void;
  /** Called once, if the disk keeps filling up or the run does not free space. */
  kill(why: string): void;
}

/**
 * How long an interrupted command may keep using the reserve, if half of it stays free: the time that Fargate grants.
 */
const graceMs = 120_000;

/**
 * @param owner of the processes that may fill it
 * @returns a function that ends the watch
 */
export const watchDisk = (folder: string, owner: Owner, ends: Ends, patienceMs = graceMs): (() => void) => {
  let looking = false;
  let interruptedAt: number | undefined;
  const look = async (): Promise<void> => {
    const full = await fullnessOf(folder, owner);
    if (!full) return;
    if (interruptedAt === undefined) ends.interrupt(full.why);
    interruptedAt ??= performance.now();
    if (!full.urgent && performance.now() - interruptedAt < patienceMs) return;
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
