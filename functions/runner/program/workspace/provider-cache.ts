import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import { addressForm, versionForm } from '#run/protocols/provider-package.ts';
import type { Owner } from '../terraform/owner.ts';
import { prune } from './prune.ts';
import { makeFolder } from './tree.ts';

/**
 * Unpacked providers on this machine, shared by its runs. Each folder's name is the checksum of its content
 * (Terraform's `h1`), and a run gets only providers whose checksum is in its lock file, so content that another run
 * has changed is not used.
 */

/** A provider in Terraform's lock file. */
export interface LockedProvider {
  /** `registry.terraform.io/hashicorp/aws`. */
  address: string;
  version: string;
  /** Base64 SHA-256 of the unpacked package, without `h1:`. */
  checksums: string[];
  /** Hex SHA-256 of the zip archives, one per platform, without `zh:`. */
  archives: string[];
}

const checksumForm = /^[A-Za-z0-9+/]{43}=$/;

/** Providers of a `.terraform.lock.hcl` in Terraform's own format; Terraform handles other entries itself. */
export const lockedProviders = (lock: string): LockedProvider[] =>
  [...lock.matchAll(/^provider "([^"]+)" \{\n([\s\S]*?)^\}/gm)].flatMap(([, address = '', body = '']) => {
    const version = /^ {2}version\s*= "([^"]+)"/m.exec(body)?.[1] ?? '';
    const checksums = [...body.matchAll(/"h1:([^"]+)"/g)].map(([, checksum = '']) => checksum);
    if (!addressForm.test(address) || !versionForm.test(version)) return [];
    const archives = [...body.matchAll(/"zh:([0-9a-f]{64})"/g)].map(([, sum = '']) => sum);
    return [{ address, version, checksums: checksums.filter((checksum) => checksumForm.test(checksum)), archives }];
  });

/** Files below a folder, as relative paths. @throws {Error} for anything but files and folders */
const filesIn = (folder: string, above = ''): string[] =>
  readdirSync(join(folder, above), { withFileTypes: true }).flatMap((entry) => {
    const path = above ? `${above}/${entry.name}` : entry.name;
    if (entry.isDirectory()) return filesIn(folder, path);
    if (!entry.isFile()) throw new Error(`${path} is neither a file nor a folder`);
    return [path];
  });

const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
};

/** Go's `dirhash.Hash1`, Terraform's checksum of a package: base64, without `h1:`. */
export const packageChecksum = async (folder: string): Promise<string> => {
  const summary = createHash('sha256');
  // Go sorts strings by their bytes.
  const files = filesIn(folder).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  for (const file of files) summary.update(`${await sha256Of(join(folder, file))}  ${file}\n`);
  return summary.digest('base64');
};

/** An entry in Terraform's own format, with all attributes that it writes. */
const blockForm =
  /^provider "[^"\n]+" \{\n {2}version\s*= "[^"\n]+"\n(?: {2}constraints\s*= "[^"\n]*"\n)? {2}hashes = \[\n(?: {4}"[^"\n]+",\n)+ {2}\]\n\}$/gm;

/**
 * Whether the complete lock file could be parsed, and all installed packages have a checksum in it. Call it while
 * only the runner's user can change them.
 * @param lock text of the lock file
 */
export const isPinned = async (lock: string, providers: string, platform: string): Promise<boolean> => {
  const rest = lock.replaceAll(/^#.*$/gm, '');
  if (rest.replaceAll(blockForm, '').trim() !== '') return false;
  const locked = lockedProviders(lock);
  if (locked.length !== [...rest.matchAll(blockForm)].length) return false;
  for (const { address, version, checksums } of locked) {
    const checksum = await packageChecksum(join(providers, address, version, platform)).catch(() => '');
    if (!checksums.includes(checksum)) return false;
  }
  return true;
};

const hexOf = (checksum: string): string => Buffer.from(checksum, 'base64').toString('hex');

/** Links the files, or copies them where the file system does not support links. */
const linkTree = (from: string, to: string): void => {
  makeFolder(to, 0o755);
  for (const file of filesIn(from)) {
    const target = join(to, file);
    makeFolder(join(target, '..'), 0o755);
    try {
      linkSync(join(from, file), target);
    } catch {
      copyFileSync(join(from, file), target, constants.COPYFILE_FICLONE);
    }
  }
};

const executable = 0o111;

/** Makes files read-only, so that no run changes the cache through a link. */
const protect = (folder: string): void => {
  for (const file of filesIn(folder)) {
    const path = join(folder, file);
    chmodSync(path, lstatSync(path).mode & executable ? 0o555 : 0o444);
  }
};

const defaultMaxBytes = 10 * 2 ** 30;

export class ProviderCache {
  readonly #folder: string;
  readonly #platform: string;
  readonly #maxBytes: number;

  /** @param platform Terraform's name for it: `linux_arm64` */
  constructor(folder: string, platform: string, maxBytes = defaultMaxBytes) {
    this.#folder = folder;
    this.#platform = platform;
    this.#maxBytes = maxBytes;
  }

  /**
   * Creates a plugin cache (Terraform CLI: `plugin_cache_dir`) of the locked providers that this machine has.
   * Terraform verifies each against the lock file again, and downloads the others.
   * @param lockFile text of the lock file
   */
  async offer(lockFile: string, to: string, owner: Owner | undefined): Promise<void> {
    makeFolder(to, 0o755);
    for (const provider of lockedProviders(lockFile)) {
      const cached = await this.#find(provider);
      if (cached) linkTree(cached, join(to, this.#pathOf(provider)));
    }
    if (owner) giveFolders(to, owner);
  }

  async #find({ checksums }: LockedProvider): Promise<string | undefined> {
    for (const checksum of checksums) {
      const entry = join(this.#folder, hexOf(checksum));
      if (!existsSync(entry)) continue;
      if ((await packageChecksum(entry).catch(() => '')) === checksum) {
        const now = new Date();
        utimesSync(entry, now, now);
        return entry;
      }
      // Modified by another process of this user, or incomplete.
      rmSync(entry, { recursive: true, force: true });
    }
    return undefined;
  }

  /**
   * Adds the installed providers to the cache. Call it while only the runner's user can change them.
   * @param lockFile text of the lock file
   * @param pluginCache folder that Terraform may have linked to, if Terraform runs as the runner's user
   */
  async keep(lockFile: string, providers: string, pluginCache: string): Promise<void> {
    if (!existsSync(providers)) return;
    const roots = [providers, pluginCache].filter(existsSync).map((root) => `${realpathSync(root)}${sep}`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    for (const provider of lockedProviders(lockFile)) {
      const installed = join(providers, this.#pathOf(provider));
      if (!existsSync(installed)) continue;
      if (provider.checksums.some((checksum) => existsSync(join(this.#folder, hexOf(checksum))))) continue;
      const real = realpathSync(installed);
      // A link to another place was not created by Terraform.
      if (roots.some((root) => real.startsWith(root))) await this.#add(real, provider);
    }
    prune(this.#folder, this.#maxBytes);
  }

  async #add(installed: string, { checksums }: LockedProvider): Promise<void> {
    const incoming = join(this.#folder, `.incoming-${randomUUID()}`);
    try {
      for (const file of filesIn(installed)) {
        makeFolder(join(incoming, file, '..'), 0o755);
        copyFileSync(join(installed, file), join(incoming, file), constants.COPYFILE_FICLONE);
      }
      protect(incoming);
      const checksum = await packageChecksum(incoming);
      if (!checksums.includes(checksum)) return;
      renameSync(incoming, join(this.#folder, hexOf(checksum)));
    } catch (error) {
      // Another runner has added it already.
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    } finally {
      rmSync(incoming, { recursive: true, force: true });
    }
  }

  #pathOf({ address, version }: LockedProvider): string {
    return join(address, version, this.#platform);
  }
}

/** Gives the folders to Terraform's user. Files remain the runner's, because they are hard links into the cache. */
export const giveFolders = (folder: string, owner: Owner): void => {
  lchownSync(folder, owner.uid, owner.gid);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) giveFolders(join(folder, entry.name), owner);
};
