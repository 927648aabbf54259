import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '../terraform/owner.ts';

/**
 * Folders that customers' code has written in, handled by a runner that may read everything: nothing here follows a link or
 * opens what is not a file. All but {@link openOwn} want that no process of that code runs any more.
 */

/** Makes a folder of that mode, whatever the runner's own mask is, unless it is there. */
export const makeFolder = (path: string, mode: number): void => {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
};

/** Makes a file or folder, with all below it, a user's, if it is there. */
export const give = (path: string, owner: Owner | undefined): void => {
  const found = owner && lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  lchownSync(path, owner.uid, owner.gid);
  if (!found.isDirectory()) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) give(below, owner);
    else lchownSync(below, owner.uid, owner.gid);
  }
};

/** Takes away from a user what it owns there: the runner's from now on, for everyone to read. Other users' files stay theirs. */
export const take = (path: string, from: Owner | undefined): void => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!from || !found) return;
  const { uid, mode } = found;
  if (uid === from.uid) lchownSync(path, 0, 0);
  if (found.isDirectory()) {
    for (const name of readdirSync(path)) take(join(path, name), from);
  }
  if (uid === from.uid && (mode & typeBits) !== constants.S_IFLNK) chmodSync(path, (mode | readable) & notWritable);
};

const typeBits = constants.S_IFMT;
const readable = 0o444;
const executable = 0o111;
const notWritable = 0o755;

/**
 * Copies files, folders and links, for everyone to read who gets there.
 * @param of whose they are: another's files, linked into the folder, are left out
 */
export const copyTree = (from: string, to: string, of: Owner | undefined): void => {
  makeFolder(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target, of);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isFile()) copyFile(source, target, of);
  }
};

const copyFile = (source: string, target: string, of: Owner | undefined): void => {
  const { mode, uid } = lstatSync(source);
  if (of && uid !== of.uid) return;
  copyFileSync(source, target, constants.COPYFILE_FICLONE);
  chmodSync(target, 0o644 | (mode & executable ? executable : 0));
};

/** A file of its own, not a link to another's. */
const isPlainFile = (path: string, of: Owner | undefined): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return !!found?.isFile() && found.nlink === 1 && (!of || found.uid === of.uid);
};

/**
 * Moves a file that a user has written to where only the runner writes.
 * @returns whether there was one
 */
export const takeFile = (path: string, to: string, of: Owner | undefined): boolean => {
  if (!isPlainFile(path, of)) return false;
  renameSync(path, to);
  if (of) lchownSync(to, 0, 0);
  chmodSync(to, of ? 0o644 : 0o600);
  return true;
};

/**
 * Reads a file that a user may be writing, and may replace by anything.
 * @throws {Error} when it is no file
 */
export const readOwn = (path: string): Buffer => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
};

/** What Terraform and what it starts read of themselves, without that a configuration names it. */
const readUnasked =
  /^(.*\.(tf|tofu)(\.json)?|.*\.tfvars(\.json)?|\.?terraform\.?rc|.*\.tfstate(\..*)?|\.terraform\.lock\.hcl|terraform\.d|\.git.*|providers)$/;

/** Moves the files that came about in `from` and are not in `to` along, but for those that Terraform would read unasked. */
export const moveAdded = (from: string, to: string, of: Owner | undefined): void => {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (readUnasked.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (entry.isDirectory()) {
      if (!there) makeFolder(target, 0o755);
      if (!there || there.isDirectory()) moveAdded(source, target, of);
    } else if (!there && isPlainFile(source, of)) renameSync(source, target);
  }
};
