import { createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { tryLock } from '#infra/build/file-lock.ts';
import { runnersOf } from '#infra/local/aws/ecs/orphaned-runners.ts';
import { dataFormat, formatOf } from '#infra/local/host/data-format.ts';
import { StartError } from '#infra/local/host/errors.ts';
import { platformLock } from '#infra/local/host/folder.ts';

/**
 * The local platform's data folder as one file, a gzip tar, also while a platform or runners use it. It has everything that is
 * secret in the folder too.
 *
 * A row of the table never names an object that the backup lacks: objects are written before the rows that name them, are
 * never changed, and are copied before and after the table, which SQLite copies as of one moment. What still changes in a
 * folder in use, executions and runners, is of no one moment: after its restore the runs that were under way end
 * (functions/lifecycle/recovery/), and states that are newer than the table become current again.
 */

/** First in every backup, so that nothing else is taken for one. */
export const mark = 'stepform-backup';

/** What the first entry tells. */
export interface BackupFacts {
  format: number;
  /** Before anything was copied; UTC, ISO 8601. */
  at: string;
  /** Made while a platform or runners used the folder. */
  inUse: boolean;
}

const privately = 0o600;
const table = join('dynamodb', 'tables.sqlite');
const objects = 's3';

/** Locks, half-written files, and what SQLite keeps beside its database. */
const isLeftOut = (name: string): boolean =>
  name.startsWith('platform.lock') || name.startsWith('dynamodb') || name.endsWith('.new') || name.endsWith('.part');

/** The processes of a moment: after a restore they are no longer there. */
const isOfRunners = (name: string): boolean => name === 'tasks';

/** @returns the facts, and bytes written @throws {StartError} for what a person must mend */
export const backUp = async (
  dataDir: string,
  file: string,
  { force = false } = {},
): Promise<BackupFacts & { bytes: number }> => {
  const [from, to] = [resolve(dataDir), resolve(file)];
  if (!existsSync(join(from, table))) throw new StartError(`${from} is no data folder of a platform`);
  if (formatOf(from) !== dataFormat)
    throw new StartError(`${from} is of another data format than this version's: use the version that wrote it`);
  if (to.startsWith(from + sep)) throw new StartError(`${to} lies in the folder itself; name a file outside`);
  if (existsSync(to) && !force) throw new StartError(`${to} is there already; name another file, or add --force`);
  const at = new Date().toISOString();
  // No platform starts meanwhile, if none uses it.
  const release = tryLock(join(from, platformLock));
  const facts: BackupFacts = { format: dataFormat, at, inUse: !release || runnersOf(from).length > 0 };
  const part = `${to}.part`;
  try {
    await rm(part, { force: true });
    await write(from, part, facts, to);
    await rename(part, to);
    return { ...facts, bytes: (await lstat(to)).size };
  } finally {
    await rm(part, { force: true });
    release?.();
  }
};

const write = async (from: string, part: string, facts: BackupFacts, to: string): Promise<void> => {
  const archive = pack();
  archive.entry({ name: mark }, JSON.stringify(facts));
  // Made for its owner alone from the first byte on.
  const written = pipeline(archive, createGzip(), createWriteStream(part, { mode: privately, flags: 'wx' }));
  written.catch(() => {});
  try {
    const added = new Set<string>();
    await addAll(archive, from, objects, added);
    await addTable(archive, from, `${part}.tables`);
    await addAll(archive, from, '', added, (name) => isLeftOut(name) || (facts.inUse && isOfRunners(name)));
    archive.finalize();
    await written;
  } catch (error) {
    archive.destroy(error as Error);
    // Of the two, the one that failed first tells why: a full disk, or a file that cannot be read.
    await written.catch((cause: Error) => {
      throw new StartError(`${to} cannot be written: ${cause.message}`);
    });
  }
};

/** In one step, because a change by another process begins it anew (sqlite.org/backup.html). */
const allPages = 2 ** 31 - 1;
const busyMs = 5000;

const addTable = async (archive: Pack, root: string, copy: string): Promise<void> => {
  const database = new DatabaseSync(join(root, table), { timeout: busyMs });
  try {
    await copyDatabase(database, copy, { rate: allPages });
    const handle = await open(copy);
    try {
      await addFile(archive, table, handle);
    } finally {
      await handle.close();
    }
  } finally {
    database.close();
    await rm(copy, { force: true });
  }
};

/**
 * @param added names of files that are in the archive
 * @param isOut of names, those that are not to be in it, with all below them
 */
const addAll = async (
  archive: Pack,
  root: string,
  below: string,
  added: Set<string>,
  isOut: (name: string) => boolean = isLeftOut,
): Promise<void> => {
  for (const entry of await entriesOf(join(root, below))) {
    const name = join(below, entry.name);
    if (isOut(name) || added.has(name)) continue;
    if (entry.isDirectory()) {
      const { mode, mtime } = await lstat(join(root, name));
      archive.entry({ name, type: 'directory', mode, mtime });
      await addAll(archive, root, name, added, isOut);
    } else if (entry.isFile()) {
      const handle = await unlessGone(open(join(root, name)));
      if (!handle) continue;
      try {
        await addFile(archive, name, handle);
      } finally {
        await handle.close();
      }
      added.add(name);
    }
  }
};

/** As long as it is now: a journal may grow meanwhile. */
const addFile = async (archive: Pack, name: string, handle: FileHandle): Promise<void> => {
  const { mode, mtime, size } = await handle.stat();
  if (size === 0) archive.entry({ name, mode, mtime }, '');
  else {
    const content = handle.createReadStream({ start: 0, end: size - 1, autoClose: false });
    await pipeline(content, archive.entry({ name, mode, mtime, size }));
  }
};

const entriesOf = async (folder: string) => (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? [];

/** What was deleted since its name was read is no part of the backup. */
const unlessGone = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
