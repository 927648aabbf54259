import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, normalize, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, type Pack, pack } from 'tar-stream';
import { StartError } from './errors.ts';
import { Folder } from './folder.ts';
import { runnersOf } from './orphaned-runners.ts';

/**
 * The local platform's data folder as one file, a gzip tar, and back. Only while neither a platform nor a runner is at work
 * on the folder: table, objects and journal are of one moment then. It has everything that is secret in the folder too.
 */

/** First in every backup, so that nothing else is taken for one. */
const mark = 'stepform-backup-1';
const privately = 0o600;

/** What a runner writes is of no one moment, and its platform must hear of it. @throws {StartError} */
const refuseRunners = (dataDir: string): void => {
  const pids = runnersOf(dataDir).map(({ process }) => process.pid);
  if (pids.length === 0) return;
  throw new StartError(
    `${pids.length === 1 ? 'a runner is' : `${pids.length} runners are`} still at work for ${dataDir} (process ${pids.join(', ')}); ` +
      'one that stands by after its plan goes within two minutes; for others start the platform and let their runs end',
  );
};

const isLock = (name: string): boolean => name === 'lock' || name.startsWith('lock.');

/** @returns bytes written @throws {StartError} for what a person must mend */
export const backUp = async (dataDir: string, file: string, { force = false } = {}): Promise<number> => {
  const [from, to] = [resolve(dataDir), resolve(file)];
  if (!existsSync(join(from, 'local.json'))) throw new StartError(`${from} is no data folder of a platform`);
  if (to.startsWith(from + sep)) throw new StartError(`${to} lies in the folder itself; name a file outside`);
  if (existsSync(to) && !force) throw new StartError(`${to} is there already; name another file, or add --force`);
  const folder = new Folder(from);
  const part = `${to}.part`;
  try {
    refuseRunners(from);
    await rm(part, { force: true });
    const archive = pack();
    archive.entry({ name: mark }, new Date().toISOString());
    // Made for its owner alone from the first byte on.
    const written = pipeline(archive, createGzip(), createWriteStream(part, { mode: privately, flags: 'wx' }));
    written.catch(() => {});
    try {
      await addAll(archive, from, '');
      archive.finalize();
      await written;
    } catch (error) {
      archive.destroy(error as Error);
      // Of the two, the one that failed first tells why: a full disk, or a file that cannot be read.
      await written.catch((cause: Error) => {
        throw new StartError(`${to} cannot be written: ${cause.message}`);
      });
    }
    await rename(part, to);
    return (await lstat(to)).size;
  } finally {
    await rm(part, { force: true });
    folder.release();
  }
};

const addAll = async (archive: Pack, root: string, below: string): Promise<void> => {
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const name = join(below, entry.name);
    if (isLock(name)) continue;
    const { mode, mtime, size } = await lstat(join(root, name));
    if (entry.isDirectory()) {
      archive.entry({ name, type: 'directory', mode, mtime });
      await addAll(archive, root, name);
    } else if (entry.isFile() && size) {
      const into = archive.entry({ name, mode, mtime, size });
      await pipeline(createReadStream(join(root, name), { end: size - 1 }), into);
    } else if (entry.isFile()) archive.entry({ name, mode, mtime }, '');
  }
};

/**
 * Makes the folder what it was. A folder that is there is replaced with `force` only, and not before the whole backup
 * was read. @throws {StartError} for what a person must mend
 */
export const restore = async (dataDir: string, file: string, { force = false } = {}): Promise<void> => {
  const [to, from] = [resolve(dataDir), resolve(file)];
  const there = existsSync(to) && (await readdir(to)).length > 0;
  if (there && !force) throw new StartError(`${to} is not empty; add --force to replace it, or set STEPFORM_DATA`);
  const folder = there ? new Folder(to) : undefined;
  const [fresh, old] = [`${to}.restoring`, `${to}.replaced`];
  try {
    refuseRunners(to);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    await unpack(from, fresh).catch((error: Error) => {
      throw new StartError(`${from} cannot be restored: ${error.message}`);
    });
    await rm(old, { recursive: true, force: true });
    if (existsSync(to)) await rename(to, old);
    await rename(fresh, to);
    await rm(old, { recursive: true, force: true });
  } finally {
    await rm(fresh, { recursive: true, force: true });
    folder?.release();
  }
};

const unpack = async (file: string, root: string): Promise<void> => {
  const reader = extract();
  const read = pipeline(createReadStream(file), createGunzip(), reader);
  read.catch(() => {});
  let known = false;
  for await (const entry of reader) {
    const { name, type, mode } = entry.header;
    if (!known && name !== mark) throw new Error('it is not a backup of stepform');
    const path = join(root, normalize(name));
    if (relative(root, path).startsWith('..')) throw new Error(`it would write outside of the folder: ${name}`);
    if (!known) {
      known = true;
      entry.resume();
    } else if (type === 'directory') {
      await mkdir(path, { recursive: true, mode });
      entry.resume();
    } else if (type === 'file') {
      await mkdir(dirname(path), { recursive: true });
      await pipeline(entry as unknown as Readable, createWriteStream(path, { mode }));
      if (mode !== undefined) await chmod(path, mode & 0o777);
    } else throw new Error(`it has something that is neither file nor folder: ${name}`);
  }
  await read;
  if (!known) throw new Error('it is empty');
};
