import { constants, createGunzip } from 'node:zlib';
import { getObject } from '../bucket.ts';
import { objects } from '../keys.ts';
import type { ConfigurationVersion } from './configuration-versions.ts';

/**
 * The README.md of a configuration, from its archive. Read here and not with a library: the API needs nothing else of an
 * archive, and a library for them is larger than most of its bundle.
 */

/** How much of an archive is looked through, packed and unpacked; clients pack in the order of names. */
const packedBytes = 8 * 1024 * 1024;
const unpackedBytes = 128 * 1024 * 1024;
/** What comes after in a longer one is left out. */
const readmeBytes = 256 * 1024;
const block = 512;

/** A stream in pieces of any size; short at its end. */
class Pieces {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  read = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Reads `length` bytes and returns the first `keep` of them. */
  async take(length: number, keep = length): Promise<Buffer> {
    const kept: Buffer[] = [];
    for (let done = 0; done < length; ) {
      if (this.#rest.length === 0) {
        const { value, done: over } = await this.#source.next();
        if (over) break;
        this.#rest = value;
      }
      const piece = this.#rest.subarray(0, length - done);
      this.#rest = this.#rest.subarray(piece.length);
      kept.push(piece.subarray(0, Math.max(0, keep - done)));
      done += piece.length;
      this.read += piece.length;
    }
    return Buffer.concat(kept);
  }
}

const text = (bytes: Buffer): string => {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
};

/** Files of a tar that are asked for by path, without `./` in front, as far as they can be found. POSIX.1-2001, pax. */
async function* filesIn(source: AsyncIterable<Buffer>, wanted: (path: string) => boolean) {
  const pieces = new Pieces(source);
  let longName: string | undefined;
  while (pieces.read < unpackedBytes) {
    const header = await pieces.take(block);
    if (header.length < block || header[0] === 0) return;
    const size = Number.parseInt(text(header.subarray(124, 136)).trim() || '0', 8);
    if (!Number.isSafeInteger(size) || size < 0) return;
    const type = String.fromCharCode(header[156] ?? 0);
    const prefix = text(header.subarray(345, 500));
    const name = longName ?? `${prefix ? `${prefix}/` : ''}${text(header.subarray(0, 100))}`;
    const path = name.replace(/^(\.?\/)+/, '');
    const isName = type === 'x' || type === 'L';
    const isFile = (type === '0' || type === '\0') && wanted(path);
    const content = await pieces.take(
      Math.ceil(size / block) * block,
      isName || isFile ? Math.min(size, readmeBytes) : 0,
    );
    if (type === 'x') longName = /^\d+ path=(.*)$/m.exec(content.toString('utf8'))?.[1];
    else longName = type === 'L' ? text(content) : undefined;
    if (isFile) yield { path, content };
  }
}

/**
 * Of the working directory, else of the whole; undefined when there is none in the part that is looked through.
 * @param directory relative to the configuration's root, null for that
 */
export const readReadme = async (
  version: ConfigurationVersion,
  directory: string | null,
): Promise<string | undefined> => {
  if (version.status !== 'uploaded') return undefined;
  const archive = await getObject(objects.configuration(version.id), { from: 0, length: packedBytes });
  if (!archive) return undefined;
  const inDirectory = `${directory ? `${directory}/` : ''}readme.md`.toLowerCase();
  const unpacked = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  unpacked.end(archive);
  let found: string | undefined;
  try {
    for await (const { path, content } of filesIn(unpacked, (name) => /^(.*\/)?readme\.md$/i.test(name))) {
      const lower = path.toLowerCase();
      if (lower === inDirectory) return content.toString('utf8');
      if (lower === 'readme.md') found = content.toString('utf8');
    }
  } catch (error) {
    // Whoever runs Terraform with it is told what is wrong with the archive.
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
  } finally {
    unpacked.destroy();
  }
  return found;
};
