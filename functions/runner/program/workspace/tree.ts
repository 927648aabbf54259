import { chmodSync, mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { PhaseError } from '../errors.ts';
import type { Owner } from '../terraform/owner.ts';
import { type Expected, Folder } from './door.ts';
import { maxDepth, type Name } from './remove-tree.ts';
import { UnexpectedFileError } from './unexpected-file.ts';

/**
 * Recursive operations on folders of untrusted code, by means of door.ts. The runner must own the parents of each path.
 */

/** Creates a folder of the runner with this mode, independent of the umask, unless it exists. */
export const makeFolder = (path: string, mode: number): void => {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
};

const runner = (): Owner => ({ uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 });

/** Empties a folder, and gives only the runner access to it. */
export const emptyFolder = (path: string): void =>
  Folder.at(path, (folder) => {
    folder.become(runner(), 0o700);
    for (const { name } of folder.entries()) folder.remove(name);
  });

/** Changes the owner of a file or folder of the runner recursively, if it exists. */
export const give = (path: string, owner: Owner | undefined): void => {
  if (owner) Folder.at(dirname(path), (folder) => giveEntry(folder, basename(path), owner));
};

/** Changes the contents before the folder, so that the new owner cannot change anything in it meanwhile. */
const giveEntry = (folder: Folder, name: Name, owner: Owner, depth = 0): void => {
  const stats = folder.look(name);
  if (stats?.isDirectory()) {
    checkDepth(depth);
    folder.within(name, (below) => {
      for (const entry of below.entries()) giveEntry(below, entry.name, owner, depth + 1);
    });
  }
  if (stats) folder.own(name, owner);
};

export const checkDepth = (depth: number): void => {
  if (depth > maxDepth) throw new PhaseError(`Folders are nested more than ${maxDepth} deep: flatten them.`);
};

/** Remaining number of files and bytes that may be copied. */
export class Budget {
  readonly #what: string;
  #files: number;
  #bytes: number;

  /** @param what subject of error messages: "The configuration with its modules" */
  constructor(what: string, { files, bytes }: { files: number; bytes: number }) {
    this.#what = what;
    this.#files = files;
    this.#bytes = bytes;
  }

  /** @throws {PhaseError} */
  spend(bytes: number): void {
    this.#files -= 1;
    this.#bytes -= bytes;
    if (this.#files < 0 || this.#bytes < 0)
      throw new PhaseError(`${this.#what} has too many files or bytes: leave out what Terraform does not need.`);
  }
}

const executable = 0o111;

/** Permissions of a copy that all users can read. */
export const readable = (mode: number): number => 0o644 | (mode & executable ? executable : 0);

/**
 * Copies files, folders and links into an existing folder, readable by all users.
 * @param of owner of the files. Skips files of other users, which can only be hard links, and all pipes and sockets
 */
export const copyTree = (from: string, to: string, of: Owner | undefined, budget: Budget): void =>
  Folder.at(from, (source) => Folder.at(to, (target) => copyEntries(source, target, of, budget)));

const copyEntries = (source: Folder, target: Folder, of: Owner | undefined, budget: Budget, depth = 0): void => {
  checkDepth(depth);
  for (const entry of source.entries()) {
    const { name } = entry;
    if (entry.isDirectory()) {
      budget.spend(0);
      target.makeFolder(name, 0o755);
      source.within(name, (from) => target.within(name, (to) => copyEntries(from, to, of, budget, depth + 1)));
    } else if (entry.isSymbolicLink()) {
      budget.spend(0);
      target.link(name, source.readLink(name));
    } else if (entry.isFile()) {
      source.open(name, (file, stats) => {
        if (of && stats.uid !== of.uid) return;
        budget.spend(stats.size);
        target.copyIn(name, file, stats, readable(stats.mode));
      });
    }
  }
};

/**
 * Copies a file that a user has written into a folder of the runner. A copy, because a process of another run may
 * still have the original open for writing.
 * @returns false if there is no such file
 * @throws {UnexpectedFileError}
 */
export const takeFile = (path: string, to: string, expected: Expected): boolean =>
  Folder.at(dirname(path), (folder) => {
    const name = basename(path);
    if (!folder.look(name)) return false;
    folder.openPlain(name, expected, (file, stats) =>
      Folder.at(dirname(to), (own) => {
        own.remove(basename(to));
        own.copyIn(basename(to), file, stats, expected.of ? 0o644 : 0o600);
      }),
    );
    folder.remove(name);
    return true;
  });

/** Copies a file of the runner to a new one that only the user can read, and replaces any existing entry. */
export const placeFile = (from: string, to: string, owner: Owner | undefined): void =>
  Folder.at(dirname(from), (own) =>
    own.open(basename(from), (file, stats) =>
      Folder.at(dirname(to), (folder) => {
        folder.remove(basename(to));
        folder.copyIn(basename(to), file, stats, 0o600, owner);
      }),
    ),
  );

/** Files that Terraform and its child processes read although the configuration does not name them. */
const readUnasked =
  /^(.*\.(tf|tofu)(\.json)?|.*\.tfvars(\.json)?|\.?terraform\.?rc|.*\.tfstate(\..*)?|\.terraform\.lock\.hcl|terraform\.d|\.git.*|providers)$/;

/** Moves new files of `from` to `to`, except those that Terraform would read implicitly. */
export const moveAdded = (from: string, to: string, of: Owner | undefined): void =>
  Folder.at(from, (source) => Folder.at(to, (target) => moveEntries(source, target, of)));

const moveEntries = (source: Folder, target: Folder, of: Owner | undefined, depth = 0): void => {
  checkDepth(depth);
  for (const entry of source.entries()) {
    const { name } = entry;
    if (readUnasked.test(String(name))) continue;
    const existing = target.look(name);
    if (entry.isDirectory()) {
      if (!existing) target.makeFolder(name, 0o755);
      if (existing && !existing.isDirectory()) continue;
      source.within(name, (below) => target.within(name, (to) => moveEntries(below, to, of, depth + 1)));
    } else if (!existing && entry.isFile() && isPlain(source, name, of)) source.move(name, target, name);
  }
};

/** Whether it is a regular file of this owner without other hard links. */
const isPlain = (folder: Folder, name: Name, of: Owner | undefined): boolean => {
  try {
    return folder.openPlain(name, { of, maxBytes: Number.POSITIVE_INFINITY }, () => true);
  } catch (error) {
    if (error instanceof UnexpectedFileError) return false;
    throw error;
  }
};
