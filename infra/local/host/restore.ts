import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { runnersOf } from '#infra/local/aws/ecs/orphaned-runners.ts';
import { type BackupFacts, mark } from '#infra/local/commands/backup.ts';
import { dataFormat } from '#infra/settings/data-format.ts';
import { markRestored } from './data-format.ts';
import { StartError } from './errors.ts';
import { Folder } from './folder.ts';

/**
 * Their work belongs to the folder that would be replaced.
 * @throws {StartError}
 */
const refuseRunners = (dataDir: string): void => {
  const pids = runnersOf(dataDir).map(({ process }) => process.pid);
  if (pids.length === 0) return;
  throw new StartError(
    `${pids.length === 1 ? 'a runner is' : `${pids.length} runners are`} still running for ${dataDir} (process ${pids.join(', ')}); ` +
      'a runner that holds a plan ends within two minutes; for others start the platform and wait for the end of their runs',
  );
};

/**
 * Restores the folder. An existing folder is replaced only with `force`, and only after the whole backup was read.
 * @throws {StartError} for problems that the user can fix
 */
export const restore = async (dataDir: string, file: string, { force = false } = {}): Promise<BackupFacts> => {
  const [to, from] = [resolve(dataDir), resolve(file)];
  const there = existsSync(to) && (await readdir(to)).length > 0;
  if (there && !force) throw new StartError(`${to} is not empty; add --force to replace it, or set STEPFORM_DATA`);
  const folder = there ? new Folder(to) : undefined;
  const [fresh, old] = [`${to}.restoring`, `${to}.replaced`];
  try {
    refuseRunners(to);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    const facts = await unpack(from, fresh).catch((error: Error) => {
      throw new StartError(`${from} cannot be restored: ${error.message}`);
    });
    if (facts.inUse) markRestored(fresh, facts.at);
    await rm(old, { recursive: true, force: true });
    if (existsSync(to)) await rename(to, old);
    await rename(fresh, to);
    await rm(old, { recursive: true, force: true });
    return facts;
  } finally {
    await rm(fresh, { recursive: true, force: true });
    folder?.release();
  }
};

const factsOf = (content: string): BackupFacts => {
  const facts = JSON.parse(content) as BackupFacts;
  if (facts.format > dataFormat)
    throw new Error(
      `a newer version of stepform made it (data format ${facts.format}; this version reads ${dataFormat}). Restore it with that version or a later one`,
    );
  if (facts.format < dataFormat)
    throw new Error(
      `an earlier version of stepform made it (data format ${facts.format}; this version reads ${dataFormat}). Restore it with that version`,
    );
  return facts;
};

const unpack = async (file: string, root: string): Promise<BackupFacts> => {
  const entries = extract();
  // The stream of an entry neither ends nor fails if the archive is cut inside it: the end of the reading side ends
  // both.
  const cut = new AbortController();
  const reading = pipeline(createReadStream(file), createGunzip(), entries);
  reading.catch((error: Error) => cut.abort(error));
  try {
    let facts: BackupFacts | undefined;
    for await (const entry of entries) {
      const content = entry as unknown as Readable;
      if (facts) await write(entry.header, content, root, cut.signal);
      else if (entry.header.name === mark) facts = factsOf(await text(content));
      else throw new Error('it is not a stepform backup, or it was made by a version before 0.2.0');
    }
    await reading;
    if (!facts) throw new Error('it is empty');
    return facts;
  } catch (error) {
    throw cut.signal.aborted ? cut.signal.reason : error;
  }
};

const write = async ({ name, type, mode }: Header, content: Readable, root: string, signal: AbortSignal) => {
  const path = join(root, normalize(name));
  if (relative(root, path).startsWith('..')) throw new Error(`an entry is outside the folder: ${name}`);
  if (type === 'directory') {
    await mkdir(path, { recursive: true, mode });
    content.resume();
  } else if (type === 'file') {
    await mkdir(dirname(path), { recursive: true });
    await pipeline(content, createWriteStream(path, { mode }), { signal });
    if (mode !== undefined) await chmod(path, mode & 0o777);
  } else throw new Error(`it contains an entry that is neither a file nor a folder: ${name}`);
};
