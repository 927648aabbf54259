import { createWriteStream } from 'node:fs';
import { chmod, link, lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { PhaseError } from '../errors.ts';
import { staysInside } from './links.ts';

/** The archive cannot be unpacked as a configuration. */
export class ArchiveError extends PhaseError {
  override name = 'ArchiveError';
}

export interface Limits {
  /** Bytes as downloaded. */
  archiveBytes: number;
  /** Bytes of the uncompressed tar. */
  unpackedBytes: number;
  files: number;
}

/** Files up to this many bytes are written in one call. */
const smallFile = 1024 * 1024;
const gzipMagic = [0x1f, 0x8b];

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

const wholeGzip = (limit: number) =>
  async function* (source: AsyncIterable<Buffer>) {
    let size = 0;
    let start: Buffer = Buffer.alloc(0);
    for await (const chunk of source) {
      size += chunk.length;
      if (size > limit) {
        throw new ArchiveError(
          `The configuration archive is larger than ${mebibytes(limit)}: leave out what Terraform does not need (.terraformignore).`,
        );
      }
      if (start.length < 2) {
        start = Buffer.concat([start, chunk]);
        if (start.length >= 2 && (start[0] !== gzipMagic[0] || start[1] !== gzipMagic[1])) {
          throw new ArchiveError(
            'The configuration archive is not gzip: upload a gzip-compressed tar file (tar -czf).',
          );
        }
      }
      yield chunk;
    }
    if (size < 2)
      throw new ArchiveError('The configuration archive is empty: upload a gzip-compressed tar file (tar -czf).');
  };

const tooLarge = (limit: number): ArchiveError =>
  new ArchiveError(
    `The configuration archive unpacks to more than ${mebibytes(limit)}: leave out what Terraform does not need (.terraformignore).`,
  );

const notABomb = (limit: number) =>
  async function* (source: AsyncIterable<Buffer>) {
    let size = 0;
    for await (const chunk of source) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      yield chunk;
    }
  };

/**
 * Unpacks a gzip tar into an empty directory that only the runner can write. Links are created last, so that no file
 * is written through one.
 * @param signal aborts with the signal's reason
 * @returns the number of files
 * @throws {ArchiveError} naming the entry and the remedy
 */
export const unpack = async (source: Readable, root: string, limits: Limits, signal?: AbortSignal): Promise<number> => {
  // If the archive ends within an entry, that entry's stream neither ends nor fails: any end aborts everything.
  const broken = new AbortController();
  const ended = signal ? AbortSignal.any([signal, broken.signal]) : broken.signal;
  const tree = new Tree(root, limits, ended);
  const entries = extract();
  const feeding = pipeline(
    source,
    wholeGzip(limits.archiveBytes),
    createGunzip(),
    notABomb(limits.unpackedBytes),
    entries,
    { signal: ended },
  );
  // Awaited below; this keeps an early failure from being unhandled.
  feeding.catch((error) => broken.abort(error));
  try {
    for await (const entry of entries) await tree.add(entry.header, entry as unknown as Readable);
    await feeding;
  } catch (error) {
    entries.destroy();
    if (signal?.aborted) throw signal.reason;
    const cause = await feeding.then(
      () => error,
      (first: unknown) => (error instanceof ArchiveError ? error : first),
    );
    throw readable(cause as NodeJS.ErrnoException);
  }
  await tree.finish();
  return tree.files;
};

/** Converts errors of zlib and tar-stream into messages for users. Returns others (network, disk) unchanged. */
const readable = (error: NodeJS.ErrnoException): Error => {
  if (error instanceof ArchiveError) return error;
  if (error.code === 'Z_BUF_ERROR' || error.message === 'Unexpected end of data') {
    return new ArchiveError('The configuration archive is cut short: upload it again.');
  }
  if (error.code?.startsWith('Z_')) {
    return new ArchiveError(`The configuration archive is damaged (${error.message}): pack and upload it again.`);
  }
  if (/tar header|Invalid tar|checksum/i.test(error.message)) {
    return new ArchiveError(
      'The configuration archive is gzip but not tar: upload a gzip-compressed tar file (tar -czf).',
    );
  }
  return error;
};

class Tree {
  files = 0;
  readonly #root: string;
  readonly #limits: Limits;
  readonly #ended: AbortSignal;
  #announcedBytes = 0;
  readonly #directories = new Set<string>(['.']);
  /** Target by path. */
  readonly #links = new Map<string, string>();

  constructor(root: string, limits: Limits, ended: AbortSignal) {
    this.#root = root;
    this.#limits = limits;
    this.#ended = ended;
  }

  async add(header: Header, content: Readable): Promise<void> {
    const path = this.#insideName(header.name, header.name);
    // Checked with the size in its header, before any byte is written.
    this.#announcedBytes += header.size ?? 0;
    if (this.#announcedBytes > this.#limits.unpackedBytes) throw tooLarge(this.#limits.unpackedBytes);
    if (++this.files > this.#limits.files) {
      throw new ArchiveError(
        `The configuration archive has more than ${this.#limits.files} entries: leave out what Terraform does not need (.terraformignore).`,
      );
    }
    if (path !== '.') this.#links.delete(path);
    switch (header.type) {
      case 'directory':
        await this.#directory(path, header.name);
        break;
      case 'file':
      case 'contiguous-file':
        await this.#file(path, header, content);
        break;
      case 'symlink':
        this.#links.set(path, header.linkname ?? '');
        break;
      case 'link':
        await this.#hardLink(path, header);
        break;
      default:
        throw new ArchiveError(
          `The configuration archive has "${header.name}", a ${header.type ?? 'entry of unknown type'}: only files, directories and links can be unpacked.`,
        );
    }
    content.resume();
  }

  /** Creates the links after checking their targets. */
  async finish(): Promise<void> {
    for (const [path, target] of this.#links) {
      await this.#room(path, path);
      await symlink(target, join(this.#root, path));
    }
    for (const [path, target] of this.#links) {
      if (await staysInside(this.#root, join(this.#root, path))) continue;
      throw new ArchiveError(
        `The configuration archive has the link "${path}" to "${target}", which is outside of the configuration's directory: replace it with the files that it points to.`,
      );
    }
  }

  /** Normalized relative path. */
  #insideName(name: string, entry: string): string {
    if (name.startsWith('/') || name.split('/').includes('..')) {
      throw new ArchiveError(
        `The configuration archive has the entry "${entry}", which is outside of its directory: pack files with relative paths (tar -C).`,
      );
    }
    return posix.normalize(name).replace(/\/$/, '') || '.';
  }

  async #directory(path: string, entry: string): Promise<void> {
    if (this.#directories.has(path)) return;
    await this.#directory(posix.dirname(path), entry);
    const full = join(this.#root, path);
    try {
      await mkdir(full, 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!(await lstat(full)).isDirectory()) {
        throw new ArchiveError(
          `The configuration archive has "${path}" both as a file or link and as the directory of "${entry}": pack it again without one of them.`,
        );
      }
    }
    this.#directories.add(path);
  }

  /** Creates the entry's directory and removes an earlier entry of the same name: the later one wins. */
  async #room(path: string, entry: string): Promise<string> {
    await this.#directory(posix.dirname(path), entry);
    const full = join(this.#root, path);
    if (path === '.' || this.#directories.has(path)) {
      throw new ArchiveError(
        `The configuration archive has "${path}" both as a directory and as a file or link: pack it again without one of them.`,
      );
    }
    await rm(full, { force: true });
    return full;
  }

  async #file(path: string, { name, size = 0, mode = 0o644 }: Header, content: Readable): Promise<void> {
    const full = await this.#room(path, name);
    // Readable by the runner itself, without set-user-id bits.
    const permissions = (mode & 0o777) | 0o600;
    if (size <= smallFile) {
      const chunks: Buffer[] = [];
      for await (const chunk of content) chunks.push(chunk as Buffer);
      await writeFile(full, Buffer.concat(chunks), { mode: permissions, flag: 'wx' });
    } else {
      await pipeline(content, createWriteStream(full, { mode: permissions, flags: 'wx' }), { signal: this.#ended });
    }
    if (permissions & 0o111) await chmod(full, permissions);
  }

  async #hardLink(path: string, { name, linkname }: Header): Promise<void> {
    const target = this.#insideName(linkname ?? '', name);
    const isFile = await lstat(join(this.#root, target)).then(
      (stats) => stats.isFile(),
      () => false,
    );
    // The link's target is not checked yet and may be outside.
    if (!isFile) {
      throw new ArchiveError(
        `The configuration archive has the hard link "${name}" to "${linkname}", which is not a file in it: pack the file itself.`,
      );
    }
    if (target === path) return;
    await link(join(this.#root, target), await this.#room(path, name));
  }
}
