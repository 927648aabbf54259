import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ArchiveError, counting, limits } from './repack.ts';

/** Archives of forges that offer only zip files, as a tar with one folder like those of the others. */

const modeOf = ({ externalFileAttributes }: Entry): number => externalFileAttributes >>> 16;
/** Bytes of a path (Linux: PATH_MAX). */
const maxTarget = 4096;

const isLink = (entry: Entry): boolean => (modeOf(entry) & 0o170000) === 0o120000;

/** Adds an entry. yauzl rejects names that lead out of the folder, and sizes that an entry does not have. */
const add = async (zip: ZipFile, entry: Entry, packing: Pack, name: string): Promise<void> => {
  const done = (send: (end: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => send((error) => (error ? reject(error) : resolve())));
  if (name.endsWith('/')) return done((end) => packing.entry({ name, type: 'directory' }, end));
  if (isLink(entry)) {
    const linkname = (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8');
    return done((end) => packing.entry({ name, type: 'symlink', linkname }, end));
  }
  const content = await zip.openReadStreamPromise(entry);
  const header = { name, size: entry.uncompressedSize, mode: modeOf(entry) & 0o777 || 0o644 };
  await done((end) => pipeline(content, packing.entry(header, end)).catch(end));
};

/** Whether all files are in a folder that the commit does not have. */
const isWrapped = (names: string[], root: string[]): boolean => {
  const first = new Set(names.map((name) => name.split('/')[0]));
  return first.size === 1 && !root.every((name) => first.has(name));
};

/**
 * Stores a zip file in the folder, and reads it as a tar. The file has a name of its own, because it is removed after
 * the last entry, while the next archive may already be stored.
 * @param root names in the commit's first folder
 * @throws {ArchiveError} for a file that is too large, or no zip file
 */
export const unzipped = async (
  source: AsyncIterable<Uint8Array>,
  folder: string,
  root: string[],
): Promise<AsyncIterable<Uint8Array>> => {
  const file = join(folder, `${randomUUID()}.zip`);
  const most = limits.packedBytes;
  await pipeline(
    source,
    counting(most, `The archive has more than ${most / 1024 / 1024} MiB`),
    createWriteStream(file),
  );
  const broken = (error: unknown): Error =>
    error instanceof ArchiveError ? error : new ArchiveError('The archive is damaged: it is not a complete zip file');
  let listing: ZipFile | undefined;
  const end = async () => {
    listing?.close();
    await rm(file, { force: true });
  };
  const entries: Entry[] = [];
  try {
    listing = await openPromise(file, { autoClose: false });
    for await (const entry of listing.eachEntry()) {
      entries.push(entry);
      // The target of a link is read as a whole.
      if (isLink(entry) && entry.uncompressedSize > maxTarget)
        throw new ArchiveError(`The archive has a symbolic link with a target of ${entry.uncompressedSize} bytes`);
      if (entries.length > limits.files) throw new ArchiveError(`The archive has more than ${limits.files} files`);
    }
  } catch (error) {
    await end();
    throw broken(error);
  }
  const zip = listing;
  const names = entries.map(({ fileName }) => fileName);
  const below = isWrapped(names, root) ? '' : 'commit/';
  const packing = pack();
  const writing = (async () => {
    for (const entry of entries) await add(zip, entry, packing, `${below}${entry.fileName}`);
    packing.finalize();
  })();
  writing.catch((error) => packing.destroy(broken(error))).finally(end);
  return packing as AsyncIterable<Uint8Array>;
};
