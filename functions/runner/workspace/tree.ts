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
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '../terraform/owner.ts';

/**
 * Handles folders that customers' code has written, in a runner that may read everything: nothing here follows a link or
 * opens anything but files. All except {@link openOwn} require that no process of that code is running.
 */

/** Creates a folder with this mode, independent of the umask, unless it exists. */
export const makeFolder = (path: string, mode: number): void => {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
};

/** Empties a folder, which is the runner's alone from then on. */
export const emptyFolder = (path: string): void => {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
  lchownSync(path, process.getuid?.() ?? -1, process.getgid?.() ?? -1);
  chmodSync(path, 0o700);
};

/** Changes the owner of a file or folder recursively, if it exists. */
export const give = (path: string, owner: Owner | undefined): void => {
  const stats = owner && lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return;
  lchownSync(path, owner.uid, owner.gid);
  if (!stats.isDirectory()) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) give(below, owner);
    else lchownSync(below, owner.uid, owner.gid);
  }
};

/** Makes the runner the owner of a user's files, readable by everyone. Files of other users are unchanged. */
export const take = (path: string, from: Owner | undefined): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!from || !stats) return;
  const { uid, mode } = stats;
  if (uid === from.uid) lchownSync(path, 0, 0);
  if (stats.isDirectory()) {
    for (const name of readdirSync(path)) take(join(path, name), from);
  }
  if (uid === from.uid && (mode & typeBits) !== constants.S_IFLNK) chmodSync(path, (mode | readable) & notWritable);
};

const typeBits = constants.S_IFMT;
const readable = 0o444;
const executable = 0o111;
const notWritable = 0o755;

/**
 * Copies files, folders and links, readable by everyone.
 * @param of owner of the files: files of others, which are linked into the folder, are skipped
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

/** A regular file of this owner, not a link to another user's. */
const isPlainFile = (path: string, of: Owner | undefined): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return !!stats?.isFile() && stats.nlink === 1 && (!of || stats.uid === of.uid);
};

/**
 * Moves a file that a user has written into a folder of the runner.
 * @returns whether the file existed
 */
export const takeFile = (path: string, to: string, of: Owner | undefined): boolean => {
  if (!isPlainFile(path, of)) return false;
  renameSync(path, to);
  if (of) lchownSync(to, 0, 0);
  chmodSync(to, of ? 0o644 : 0o600);
  return true;
};

/**
 * Reads a file that a user may be writing or replacing at the same time.
 * @throws {Error} for anything but a regular file
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

/** Files that Terraform and its child processes read without being named in the configuration. */
const readUnasked =
  /^(.*\.(tf|tofu)(\.json)?|.*\.tfvars(\.json)?|\.?terraform\.?rc|.*\.tfstate(\..*)?|\.terraform\.lock\.hcl|terraform\.d|\.git.*|providers)$/;

/** Moves new files of `from` to `to`, except those that Terraform would read implicitly. */
export const moveAdded = (from: string, to: string, of: Owner | undefined): void => {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (readUnasked.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    const existing = lstatSync(target, { throwIfNoEntry: false });
    if (entry.isDirectory()) {
      if (!existing) makeFolder(target, 0o755);
      if (!existing || existing.isDirectory()) moveAdded(source, target, of);
    } else if (!existing && isPlainFile(source, of)) renameSync(source, target);
  }
};
