import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { bytes } from '#clients/client/text/time.ts';
import { maxArchiveBytes } from '#run/limits.ts';
import { CommandError } from './exit.ts';
import { type Ignore, ignoreRules } from './ignore.ts';

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
};

class FolderArchive {
  readonly #archive: Pack;
  readonly #root: string;
  readonly #ignore: Ignore;
  /** Bytes by path. */
  readonly sizes = new Map<string, number>();

  constructor(archive: Pack, root: string, ignore: Ignore) {
    this.#archive = archive;
    this.#root = root;
    this.#ignore = ignore;
  }

  /** @param above real paths of the parent folders: a link to one of them would loop */
  async folder(path: string, name: string, above: string[] = []): Promise<void> {
    const target = await realpath(path);
    if (above.includes(target)) return;
    const entries = await readdir(path);
    for (const entry of entries.sort((a, b) => a.localeCompare(b))) {
      await this.#entry(join(path, entry), name ? `${name}/${entry}` : entry, [...above, target]);
    }
  }

  async #entry(path: string, name: string, above: string[]): Promise<void> {
    const link = await this.#linkName(path);
    if (link !== undefined) {
      if (!this.#ignore.ignores(name)) this.#archive.entry({ name, type: 'symlink', linkname: link });
      return;
    }
    // Dangling links are left out.
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isDirectory()) {
      // An ignored folder may contain files that are not ignored: `!.terraform/modules/`.
      if (!this.#ignore.ignores(`${name}/`) || name === '.terraform') await this.folder(path, name, above);
    } else if (stats?.isFile() && !this.#ignore.ignores(name)) {
      this.sizes.set(name, stats.size);
      this.#archive.entry({ name, mode: stats.mode }, await readFile(path));
    }
  }

  /** Target of a link within the folder; undefined for a link that leads out of it, whose content is packed instead. */
  async #linkName(path: string): Promise<string | undefined> {
    if (!(await lstat(path)).isSymbolicLink()) return undefined;
    const [from, to] = await Promise.all([realpath(dirname(path)), realpath(path).catch(() => '/')]);
    return isInside(this.#root, from) && isInside(this.#root, to) ? relative(from, to) || '.' : undefined;
  }
}

const gzipped = async (archive: Pack): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of archive.pipe(createGzip())) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

const largestOf = (sizes: Map<string, number>): string =>
  [...sizes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([name, size]) => `${name} (${bytes(size)})`)
    .join(', ');

/**
 * Packs a folder as a configuration archive (gzip tar), without the files in `.terraformignore`.
 * @throws {CommandError} if it is larger than the platform accepts
 */
export const packFolder = async (folder: string): Promise<Buffer> => {
  const root = await realpath(folder);
  const rules = await readFile(join(root, '.terraformignore'), 'utf8').catch(() => '');
  const archive = pack();
  const compressed = gzipped(archive);
  const packing = new FolderArchive(archive, root, ignoreRules(rules));
  await packing.folder(root, '');
  archive.finalize();
  const packed = await compressed;
  if (packed.length <= maxArchiveBytes) return packed;
  throw new CommandError(
    `${folder} has ${bytes(packed.length)} packed; at most ${bytes(maxArchiveBytes)} can be uploaded. Exclude what Terraform does not need with a .terraformignore file. Largest: ${largestOf(packing.sizes)}`,
  );
};

/** Packs files, by path, as a configuration archive. */
export const packFiles = (files: Record<string, string>): Promise<Buffer> => {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content);
  archive.finalize();
  return gzipped(archive);
};
