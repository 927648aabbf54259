import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, type Header, pack } from 'tar-stream';

/**
 * A forge's archive of a commit as a configuration: without the folder that everything is in, and without what no
 * configuration has. It goes from stream to stream into a file, so that its size takes no memory.
 */

/** The content cannot be a configuration; the message is for people. */
export class ArchiveError extends Error {
  override name = 'ArchiveError';
}

export const limits = { packedBytes: 100 * 1024 * 1024, unpackedBytes: 1024 ** 3, files: 50_000 };
export type Limits = typeof limits;

const counting = (most: number, words: string): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > most ? new ArchiveError(words) : null, chunk);
    },
  });
};

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

const inside = (path: string): boolean => !path.startsWith('/') && !path.split('/').includes('..');

/** Where a link leads, from the archive's root; it may not leave it. */
const linksInside = (name: string, target: string): boolean => {
  if (target.startsWith('/')) return false;
  const parts = name.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..' && parts.pop() === undefined) return false;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return true;
};

/** The entry as it is kept; undefined for one that is not. @throws {ArchiveError} */
const keptAs = ({ name, type, mode, linkname }: Header): (Partial<Header> & { name: string }) | undefined => {
  const path = name.split('/').slice(1).join('/').replace(/\/+$/, '');
  if (path === '' || !['file', 'directory', 'symlink'].includes(type ?? '')) return undefined;
  if (!inside(path)) throw new ArchiveError(`The archive has an entry outside of itself: ${path.slice(0, 200)}`);
  if (type === 'symlink' && !linksInside(path, linkname ?? '')) {
    throw new ArchiveError(`The archive has a symbolic link that leads out of it: ${path.slice(0, 200)}`);
  }
  const common = { name: type === 'directory' ? `${path}/` : path, mtime: new Date(0), type };
  return {
    ...common,
    mode: type === 'file' && (mode ?? 0) & 0o111 ? 0o755 : type === 'file' ? 0o644 : 0o755,
    ...(type === 'symlink' ? { linkname } : {}),
  };
};

/**
 * Writes the configuration to a file.
 * @throws {ArchiveError} what the source throws, and what is wrong with the archive
 */
export const repack = async (
  source: AsyncIterable<Uint8Array>,
  file: string,
  { packedBytes, unpackedBytes, files }: Limits = limits,
): Promise<{ size: number; sha256: string }> => {
  const [unpacking, packing, hash] = [extract(), pack(), createHash('sha256')];
  let count = 0;
  unpacking.on('entry', (header, stream, next) => {
    const end = (error?: Error | null) => (error ? unpacking.destroy(error) : next());
    try {
      const kept = keptAs(header);
      if (kept && ++count > files) throw new ArchiveError(`The archive has more than ${files} files`);
      stream.on('error', end);
      if (kept?.type !== 'file') {
        if (kept) packing.entry(kept, end);
        stream.on('end', () => (kept ? undefined : end()));
        stream.resume();
        return;
      }
      stream.pipe(packing.entry({ ...kept, size: header.size }, end));
    } catch (error) {
      unpacking.destroy(error as Error);
    }
  });
  const reading = pipeline(
    source,
    counting(packedBytes, `The archive has more than ${mebibytes(packedBytes)}`),
    createGunzip(),
    counting(unpackedBytes, `The archive has more than ${mebibytes(unpackedBytes)} unpacked`),
    unpacking,
  ).then(
    () => packing.finalize(),
    (error) => {
      packing.destroy(error);
      throw readable(error);
    },
  );
  const written = counting(packedBytes, `The configuration has more than ${mebibytes(packedBytes)} packed`);
  written.on('data', (chunk: Buffer) => hash.update(chunk));
  const writing = pipeline(packing, createGzip({ level: 1 }), written, createWriteStream(file, { mode: 0o600 }));
  const outcomes = await Promise.allSettled([reading, writing]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw readable(outcome.reason);
  return { size: (await stat(file)).size, sha256: hash.digest('hex') };
};

/** Errors of zlib and of tar, in words; what the network says stays. */
const readable = (error: Error & { code?: string }): Error => {
  if (error instanceof ArchiveError) return error;
  const broken = error.code?.startsWith('Z_') || /tar|header|Unexpected end of data/i.test(error.message);
  return broken ? new ArchiveError('The archive is damaged: it is not a whole gzip tar file') : error;
};
