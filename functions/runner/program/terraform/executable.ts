import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../workspace/tree.ts';
import { isHidden, isPassable, isWritable, machineFolder, rootFolder } from './machine.ts';
import type { User } from './users.ts';

/**
 * Makes Terraform a program that its user can execute but not read. The kernel does not let processes of such a
 * program be dumped (execve(2), PR_SET_DUMPABLE(2const)): other processes of the same user, such as its providers,
 * can neither trace it nor access its memory and open files, including the file that policies evaluate.
 */

const unreadable = 0o711;
const readByOthers = 0o004;
const executeByOthers = 0o001;

const isOut = (path: string, { uid, mode }: Stats): boolean =>
  uid === 0 && !(mode & readByOthers) && !!(mode & executeByOthers) && isPassable(dirname(path));

/** Whether the file has the Executable and Linkable Format, and is not a script. */
const isProgram = (path: string): boolean => {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(4);
    readSync(file, start);
    return start.toString('latin1') === '\x7FELF';
  } finally {
    closeSync(file);
  }
};

/**
 * Path of the same program that the user can execute but not read. Copies are kept once per machine.
 * @param fallback folder for the copy if the machine keeps none
 * @throws {Error} for a script, because its interpreter must read it
 */
export const executable = (file: string, fallback: string, { owner, room }: User): string => {
  if (!owner) return file;
  const real = realpathSync(file);
  const stats = statSync(real);
  if (isOut(real, stats) && isPassable(dirname(file)) && !(room && (isHidden(real) || isHidden(file)))) return file;
  if (!isProgram(real))
    throw new Error('it is a script, and providers could change its output: use the program itself');
  const { dev, ino, size, mtimeMs, ctimeMs } = stats;
  const name = createHash('sha256').update(`${real} ${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`).digest('hex');
  const folder = folderFor(name.slice(0, 32), fallback);
  const copy = join(folder, basename(file));
  if (existsSync(copy) && isOut(copy, statSync(copy))) return copy;
  const incoming = join(folder, `.${randomUUID()}`);
  try {
    copyFileSync(real, incoming, constants.COPYFILE_FICLONE);
    chmodSync(incoming, unreadable);
    renameSync(incoming, copy);
  } finally {
    rmSync(incoming, { force: true });
  }
  return copy;
};

const folderFor = (name: string, fallback: string): string => {
  try {
    const all = machineFolder('programs', unreadable);
    if (isWritable(all)) return rootFolder(join(all, name), unreadable);
  } catch {
    // A read-only file system.
  }
  makeFolder(fallback, 0o755);
  return fallback;
};
