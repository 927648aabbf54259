import { createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { tryLock } from '#infra/build/file-lock.ts';
import { runnersOf } from '#infra/local/aws/ecs/orphaned-runners.ts';
import { formatOf } from '#infra/local/host/data-format.ts';
import { databaseFile } from '#infra/local/host/database.ts';
import { StartError } from '#infra/local/host/errors.ts';
import { platformLock } from '#infra/local/host/folder.ts';
import { dataFormat } from '#infra/settings/data-format.ts';
import { machineFolders } from '#runner/program/terraform/machine.ts';

/**
 * The local platform's data folder as one file, a gzip tar, even while a platform or runners use it. It contains the
 * folder's secrets, too.
 *
 * The database is from one point in time, because SQLite copies it atomically, and every large object that it names is
 * in the backup: its file is written before its row, is never changed, and files are copied before and after the
 * database. Files of runners can change during the backup. After a restore the runs that were in progress end
 * (functions/lifecycle/recovery/), and states that are newer than the table become current again.
 */

/** The first entry of every backup, so that no other archive is restored as one. */
export const mark = 'stepform-backup';

/** Content of the first entry. */
export interface BackupFacts {
  format: number;
  /** Before the first copy; UTC, ISO 8601. */
  at: string;
  /** Whether a platform or runners used the folder meanwhile. */
  inUse: boolean;
}

const privately = 0o600;
const objects = 's3';

/** Of this machine, such as copies of Terraform. */
const ofMachine: readonly string[] = machineFolders;

/** Also locks, incomplete files, and the database with SQLite's files beside it. */
const isLeftOut = (name: string): boolean =>
  ofMachine.includes(name) ||
  name.startsWith('platform.lock') ||
  name.startsWith(databaseFile) ||
  name.endsWith('.new') ||
  name.endsWith('.part');

/** Records of running processes: after a restore these no longer exist. */
const isOfRunners = (name: string): boolean => name === 'tasks';

/**
 * @returns the facts, and bytes written
 * @throws {StartError} for problems that a user can fix
 */
export const backUp = async (
  dataDir: string,
  file: string,
  { force = false } = {},
): Promise<BackupFacts & { bytes: number }> => {
  const [from, to] = [resolve(dataDir), resolve(file)];
  if (!existsSync(join(from, databaseFile))) throw new StartError(`${from} is not a data folder of a platform`);
  if (formatOf(from) !== dataFormat)
    throw new StartError(`${from} has another data format than this version: use the version that wrote it`);
  if (to.startsWith(from + sep)) throw new StartError(`${to} is inside the data folder; name a file outside of it`);
  if (existsSync(to) && !force) throw new StartError(`${to} already exists; name another file, or add --force`);
  const at = new Date().toISOString();
  // If no platform runs, none can start meanwhile.
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
  // Readable only by its owner from the first byte on.
  const written = pipeline(archive, createGzip(), createWriteStream(part, { mode: privately, flags: 'wx' }));
  written.catch(() => {});
  try {
    const added = new Set<string>();
    await addAll(archive, from, objects, added);
    await addDatabase(archive, from, `${part}.database`);
    await addAll(archive, from, '', added, (name) => isLeftOut(name) || (facts.inUse && isOfRunners(name)));
    archive.finalize();
    await written;
  } catch (error) {
    archive.destroy(error as Error);
    // The error of the stream that failed first has the cause: a full disk, or an unreadable file.
    await written.catch((cause: Error) => {
      throw new StartError(`${to} cannot be written: ${cause.message}`);
    });
  }
};

/** In one step, because a change by another process restarts it (sqlite.org/backup.html). */
const allPages = 2 ** 31 - 1;
const busyMs = 5000;

const addDatabase = async (archive: Pack, root: string, copy: string): Promise<void> => {
  const database = new DatabaseSync(join(root, databaseFile), { timeout: busyMs });
  try {
    await copyDatabase(database, copy, { rate: allPages });
    const handle = await open(copy);
    try {
      await addFile(archive, databaseFile, handle);
    } finally {
      await handle.close();
    }
  } finally {
    database.close();
    await rm(copy, { force: true });
  }
};

/**
 * @param added names of files in the archive
 * @param isOut whether to leave out a name, with everything below it
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

/** With its current length: a journal may grow meanwhile. */
const addFile = async (archive: Pack, name: string, handle: FileHandle): Promise<void> => {
  const { mode, mtime, size } = await handle.stat();
  if (size === 0) archive.entry({ name, mode, mtime }, '');
  else {
    const content = handle.createReadStream({ start: 0, end: size - 1, autoClose: false });
    await pipeline(content, archive.entry({ name, mode, mtime, size }));
  }
};

const entriesOf = async (folder: string) => (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? [];

/** Files deleted meanwhile are not part of the backup. */
const unlessGone = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
