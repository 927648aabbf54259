import { constants, createGunzip } from 'node:zlib';

/**
 * Reads tar files (POSIX.1-2024 pax: ustar and pax interchange format; GNU tar: long names). Every function that
 * creates runs contains this code; a library for streams of any length would add 37 KB to each.
 */

export interface TarEntry {
  name: string;
  /** Size of the content in bytes, for checks before it is read. */
  size: number;
  /** False for entries without content: folders, links, devices. */
  isFile: boolean;
  /** A hard or a symbolic link. */
  isLink: boolean;
  /** Can be read once, before the next entry; unread content is skipped. */
  content(): Promise<Buffer>;
}

export class TarError extends Error {
  override readonly name = 'TarError';
}

const block = 512;

/** Reads the source in pieces; undefined at its end. Skipped bytes take no memory. */
const taker = (source: AsyncIterator<Buffer>) => {
  let rest: Buffer = Buffer.alloc(0);
  return async (bytes: number, keep = true): Promise<Buffer | undefined> => {
    const parts: Buffer[] = [];
    let missing = bytes;
    while (missing > 0) {
      if (rest.length === 0) {
        const next = await source.next();
        if (next.done) break;
        rest = next.value;
      }
      const part = rest.subarray(0, missing);
      rest = rest.subarray(part.length);
      missing -= part.length;
      if (keep) parts.push(part);
    }
    if (missing > 0 && missing === bytes) return undefined;
    if (missing > 0) throw new TarError('it ends in the middle of an entry');
    return Buffer.concat(parts);
  };
};

const textAt = (header: Buffer, from: number, length: number): string => {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
};

const sizeOf = (header: Buffer): number => {
  // Sizes of 8 GiB and more are binary.
  const size =
    header[124] === 0x80
      ? Number(header.readBigUInt64BE(128))
      : Number(`0o${textAt(header, 124, 12).trim().replace(/^$/, '0')}`);
  if (!Number.isSafeInteger(size)) throw new TarError('a header has no valid size');
  return size;
};

/** Undefined for a block of zeros, which marks the end. */
const readHeader = (header: Buffer) => {
  const sum = header.reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 0x20 : byte), 0);
  if (sum === 8 * 0x20) return undefined;
  const magic = header.toString('latin1', 257, 263);
  if (Number.parseInt(textAt(header, 148, 8).trim(), 8) !== sum || !['ustar\0', 'ustar '].includes(magic)) {
    throw new TarError('a header is not valid');
  }
  const prefix = magic === 'ustar\0' ? textAt(header, 345, 155) : '';
  const name = textAt(header, 0, 100);
  return {
    name: prefix ? `${prefix}/${name}` : name,
    size: sizeOf(header),
    type: header[156] ? String.fromCharCode(header[156]) : '0',
  };
};

interface Fields {
  path?: string;
  size?: string;
}

/**
 * Records are `<length> <key>=<value>\n`; `<length>` counts the whole record. Keeps only the keys that are used: an
 * archive can have a million other keys, and every entry inherits the global headers before it.
 */
const readPax = (content: Buffer): Fields => {
  const fields: Fields = {};
  for (let at = 0; at < content.length; ) {
    const length = Number.parseInt(content.toString('latin1', at, at + 20), 10);
    const [, key, value] = /^\d+ ([^=]+)=(.*)\n$/s.exec(content.toString('utf8', at, at + length)) ?? [];
    if (key === undefined || value === undefined) throw new TarError('an extended header is not valid');
    if (key === 'path' || key === 'size') fields[key] = value;
    at += length;
  }
  return fields;
};

/** @throws {TarError} if it is not a tar file, or incomplete; errors of the source, which is read to its end */
export async function* tarEntries(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const parts = source[Symbol.asyncIterator]();
  const take = taker(parts);
  /** The content behind a header, without the padding. */
  const following = async (size: number, keep = true): Promise<Buffer> => {
    const content = await take(Math.ceil(size / block) * block, keep);
    if (!content) throw new TarError('it ends in the middle of an entry');
    return content.subarray(0, size);
  };
  let common: Fields = {};
  let own: Fields = {};
  try {
    for (let header = await take(block); header; header = await take(block)) {
      const parsed = readHeader(header);
      if (!parsed) continue;
      const { type } = parsed;
      if (type === 'g') common = { ...common, ...readPax(await following(parsed.size)) };
      else if (type === 'x') own = { ...own, ...readPax(await following(parsed.size)) };
      else if (type === 'L') own.path = textAt(await following(parsed.size), 0, parsed.size);
      else if (type === 'K') await following(parsed.size, false);
      else {
        const { path: name = parsed.name, size: stated = String(parsed.size) } = { ...common, ...own };
        own = {};
        const isFolder = type === '5' || name.endsWith('/');
        const size = isFolder ? 0 : Number(stated);
        if (!Number.isSafeInteger(size) || size < 0) throw new TarError('an extended header has no valid size');
        let reading: Promise<Buffer> | undefined;
        const content = () => (reading ??= following(size));
        yield { name, size, isFile: type === '0' && !isFolder, isLink: type === '1' || type === '2', content };
        if (!reading) await following(size, false);
      }
    }
  } finally {
    await parts.return?.();
  }
}

export type Exceeded = 'bytes' | 'ms';

/**
 * Unpacks a gzip archive, up to a size and a time limit: a megabyte can become gigabytes.
 * @param exceeded called at a limit; its exception is thrown, otherwise the output ends there
 * @throws errors of zlib
 */
export async function* gunzip(
  archive: Buffer,
  limits: Record<Exceeded, number>,
  exceeded: (what: Exceeded) => void = () => {},
): AsyncGenerator<Buffer> {
  const source = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 256 * 1024 });
  source.end(archive);
  const end = Date.now() + limits.ms;
  let bytes = 0;
  try {
    for await (const piece of source as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > limits.bytes) return exceeded('bytes');
      if (Date.now() > end) return exceeded('ms');
      yield piece;
    }
  } finally {
    source.destroy();
  }
}

/** Whether the archive itself is invalid: no gzip, no tar, or truncated. */
export const isArchiveFault = (error: unknown): boolean =>
  error instanceof TarError || String((error as NodeJS.ErrnoException).code).startsWith('Z_');
