import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, type Header, type Pack, pack } from 'tar-stream';

/**
 * Converts a forge's archive of a commit to a configuration: removes the top folder, and all entries except files,
 * folders and symbolic links. Streams into a file, so that large archives need no more memory.
 */

/** The content cannot be a configuration; users see the message. */
export class ArchiveError extends Error {
  override name = 'ArchiveError';
}

export const limits = { packedBytes: 100 * 1024 * 1024, unpackedBytes: 1024 ** 3, files: 50_000 };
export type Limits = typeof limits;

/** Bytes so far, shared by all parts. */
interface Count {
  bytes: number;
}

export const counting = (most: number, words: string, count: Count = { bytes: 0 }): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count.bytes += chunk.length;
      done(count.bytes > most ? new ArchiveError(words) : null, chunk);
    },
  });

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

const inside = (path: string): boolean => !path.startsWith('/') && !path.split('/').includes('..');

/** Whether a link's target stays inside the archive. */
const linksInside = (name: string, target: string): boolean => {
  if (target.startsWith('/')) return false;
  const parts = name.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..' && parts.pop() === undefined) return false;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return true;
};

/** The entry's header in the configuration; undefined if the entry is left out. @throws {ArchiveError} */
const keptAs = (
  { name, type, mode, linkname }: Header,
  below: string,
): (Partial<Header> & { name: string }) | undefined => {
  const own = name.split('/').slice(1).join('/').replace(/\/+$/, '');
  if (own === '' || !['file', 'directory', 'symlink'].includes(type ?? '')) return undefined;
  const path = `${below}${own}`;
  if (!inside(path))
    throw new ArchiveError(`The archive has an entry with a path outside of it: ${path.slice(0, 200)}`);
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

/** Part of a configuration: a commit's archive. */
export interface Part {
  source: AsyncIterable<Uint8Array>;
  /** The source is a tar without compression. */
  isTar?: boolean;
  /** Folder of its files: empty, or with a slash at its end. */
  below?: string;
  /** Name of a file to return as text. */
  read?: string;
}

/** Maximum bytes of the file in {@link Part.read}. */
const maxText = 64 * 1024;

const collecting = (name: string, take: (text: string) => void): Transform => {
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      parts.push(chunk);
      done(bytes > maxText ? new ArchiveError(`${name} has more than ${maxText} bytes`) : null, chunk);
    },
    flush(done) {
      take(Buffer.concat(parts).toString('utf8'));
      done();
    },
  });
};

/** Returns the requested file's text, if the part has it. */
export type AddPart = (part: Part) => Promise<string | undefined>;

/** Adds parts to the archive; the limits apply to all of them together. */
const adderTo = (packing: Pack, { packedBytes, unpackedBytes, files }: Limits): AddPart => {
  const [packed, unpacked] = [{ bytes: 0 }, { bytes: 0 }];
  let count = 0;
  return async ({ source, isTar = false, below = '', read }) => {
    const unpacking = extract();
    let text: string | undefined;
    unpacking.on('entry', (header, stream, next) => {
      const end = (error?: Error | null) => (error ? unpacking.destroy(error) : next());
      try {
        const kept = keptAs(header, below);
        if (kept && ++count > files) throw new ArchiveError(`The archive has more than ${files} files`);
        stream.on('error', end);
        if (kept?.type !== 'file') {
          if (kept) packing.entry(kept, end);
          stream.on('end', () => (kept ? undefined : end()));
          stream.resume();
          return;
        }
        const entry = packing.entry({ ...kept, size: header.size }, end);
        // The callback receives the error too; without a listener a truncated archive would end the process.
        entry.on('error', () => {});
        if (read === undefined || kept.name !== `${below}${read}`) stream.pipe(entry);
        else {
          const copy = collecting(kept.name, (content) => {
            text = content;
          });
          copy.on('error', end);
          stream.pipe(copy).pipe(entry);
        }
      } catch (error) {
        unpacking.destroy(error as Error);
      }
    });
    const counted = counting(unpackedBytes, `The archive has more than ${mebibytes(unpackedBytes)} unpacked`, unpacked);
    const received = counting(packedBytes, `The archive has more than ${mebibytes(packedBytes)}`, packed);
    await (isTar
      ? pipeline(source, counted, unpacking)
      : pipeline(source, received, createGunzip(), counted, unpacking));
    return text;
  };
};

/**
 * Writes the combined configuration to a file.
 * @throws {ArchiveError} for an invalid archive; also errors of the sources
 */
export const repack = async (
  compose: (add: AddPart) => Promise<unknown>,
  file: string,
  allowed: Limits = limits,
): Promise<{ size: number; sha256: string }> => {
  const [packing, hash] = [pack(), createHash('sha256')];
  const { packedBytes } = allowed;
  const reading = compose(adderTo(packing, allowed)).then(
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

/** Translates errors of zlib and tar; network errors stay as they are. */
const readable = (error: Error & { code?: string }): Error => {
  if (error instanceof ArchiveError) return error;
  const broken = error.code?.startsWith('Z_') || /tar|header|Unexpected end of data/i.test(error.message);
  return broken ? new ArchiveError('The archive is damaged: it is not a complete gzip-compressed tar file') : error;
};
