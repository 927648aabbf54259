import {
  closeSync,
  constants,
  type Dirent,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Owner } from '../terraform/owner.ts';
import { codeOf, folderOnly, hasHandles, readOnly } from './handles.ts';
import { type Name, removeTree } from './remove-tree.ts';
import { kindOf, UnexpectedFileError } from './unexpected-file.ts';

/**
 * The door: the only way in which the runner accesses folders that foreign code can write (the configuration, Terraform's home, its
 * output, the state during an apply). The runner may be root. So it must not follow a link with its own permissions, block on a
 * pipe, or accept another user's file as the run's.
 *
 * Node has no openat(2). On Linux, `/proc/self/fd/N/name` does the same: the kernel starts at the open folder N, even after it was
 * moved, and O_NOFOLLOW covers the only component after it. On other systems (macOS, or no /proc) a folder is accessed by its path,
 * which must not contain links when the folder is opened; a link that is created later is followed. On those systems Terraform runs
 * as the runner's own user anyway.
 */

/** Requirements for a file, which must also be regular and have no other hard links. */
export interface Expected {
  /** Terraform's user; undefined if it is the runner's own. */
  of: Owner | undefined;
  maxBytes: number;
}

const pieceBytes = 1024 * 1024;

const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

const runnersUid = process.getuid?.() ?? -1;

/** An open folder. Names are those of entries, never paths. Every method accesses this folder, even after it was moved. */
export class Folder {
  readonly #handle: number;
  /** For messages, and for access on systems without handles. */
  readonly #path: string;

  private constructor(handle: number, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  static #open(place: Name, path: string): Folder {
    try {
      if (!hasHandles && realpathSync(dirname(path)) !== dirname(path))
        throw new UnexpectedFileError(path, 'below a symbolic link');
      return new Folder(openSync(place, folderOnly), path);
    } catch (error) {
      if (!['ELOOP', 'ENOTDIR'].includes(codeOf(error))) throw error;
      throw new UnexpectedFileError(path, `${kindOf(lstatSync(place))}, not a folder`);
    }
  }

  /**
   * @param path only its last component may be created by foreign code: its parents are the runner's or the system's
   */
  static at<T>(path: string, work: (folder: Folder) => T): T {
    const real = join(realpathSync(dirname(path)), basename(path));
    return Folder.#open(real, real).#use(work);
  }

  #use<T>(work: (folder: Folder) => T): T {
    try {
      return work(this);
    } finally {
      closeSync(this.#handle);
    }
  }

  /** The path under which it was opened. */
  get path(): string {
    return this.#path;
  }

  get stats(): Stats {
    return fstatSync(this.#handle);
  }

  #at(name: Name): Name {
    const text = typeof name === 'string' ? name : name.toString('latin1');
    if (text === '' || text === '.' || text === '..' || text.includes('/') || text.includes('\0'))
      throw new Error(`${JSON.stringify(text)} is not the name of an entry`);
    const folder = hasHandles ? `/proc/self/fd/${this.#handle}` : this.#path;
    return typeof name === 'string' ? join(folder, name) : Buffer.concat([Buffer.from(`${folder}/`), name]);
  }

  entries(): Dirent<Buffer>[] {
    const folder = hasHandles ? `/proc/self/fd/${this.#handle}` : this.#path;
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  }

  /** Attributes of an entry, without following links; undefined if it does not exist. */
  look(name: Name): Stats | undefined {
    return lstatSync(this.#at(name), { throwIfNoEntry: false });
  }

  /** Calls `work` with a folder in it. @throws {UnexpectedFileError} for any other entry */
  within<T>(name: Name, work: (folder: Folder) => T): T {
    return Folder.#open(this.#at(name), join(this.#path, String(name))).#use(work);
  }

  /** Calls `work` with a folder at any depth below it. */
  below<T>([name, ...rest]: Name[], work: (folder: Folder) => T): T {
    return name === undefined ? work(this) : this.within(name, (folder) => folder.below(rest, work));
  }

  /** Creates a folder with this mode, independent of the umask, or sets the mode of an existing one. */
  makeFolder(name: Name, mode: number): void {
    try {
      mkdirSync(this.#at(name), mode);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    this.within(name, (folder) => fchmodSync(folder.#handle, mode));
  }

  /** Changes owner and permissions of the folder itself. */
  become(owner: Owner, mode?: number): void {
    fchownSync(this.#handle, owner.uid, owner.gid);
    if (mode !== undefined) fchmodSync(this.#handle, mode);
  }

  /** Changes the owner of an entry, without following links. */
  own(name: Name, { uid, gid }: Owner): void {
    lchownSync(this.#at(name), uid, gid);
  }

  /** Changes the permissions of a file. @throws {UnexpectedFileError} */
  setMode(name: Name, mode: number): void {
    this.open(name, (file) => fchmodSync(file, mode));
  }

  readLink(name: Name): Buffer {
    return readlinkSync(this.#at(name), 'buffer');
  }

  /**
   * Opens a regular file. Use the passed descriptor: the name may mean another file meanwhile.
   * @throws {UnexpectedFileError} for any other entry
   */
  open<T>(name: Name, work: (file: number, stats: Stats) => T): T {
    let file: number;
    try {
      file = openSync(this.#at(name), readOnly);
    } catch (error) {
      // ENXIO: a socket.
      if (!['ELOOP', 'ENXIO'].includes(codeOf(error))) throw error;
      const stats = this.look(name);
      throw this.#unexpected(name, stats ? `${kindOf(stats)}, not a regular file` : 'being replaced');
    }
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw this.#unexpected(name, `${kindOf(stats)}, not a regular file`);
      return work(file, stats);
    } finally {
      closeSync(file);
    }
  }

  /** Opens a file that meets the requirements. @throws {UnexpectedFileError} @throws {Error} ENOENT */
  openPlain<T>(name: Name, { of, maxBytes }: Expected, work: (file: number, stats: Stats) => T): T {
    return this.open(name, (file, stats) => {
      if (stats.nlink > 1) throw this.#unexpected(name, 'a hard link, which has other names');
      if (stats.uid !== (of?.uid ?? runnersUid)) throw this.#unexpected(name, "another user's file");
      if (stats.size > maxBytes)
        throw this.#unexpected(name, `larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB (${stats.size} bytes)`);
      return work(file, stats);
    });
  }

  #unexpected(name: Name, is: string): UnexpectedFileError {
    return new UnexpectedFileError(`${name}, in ${basename(this.#path)} of the run's folder,`, is);
  }

  /** Reads a file that meets the requirements. @throws {UnexpectedFileError} @throws {Error} ENOENT */
  read(name: Name, expected: Expected): Buffer {
    return this.openPlain(name, expected, (file, { size }) => {
      // At most the size that was checked, even if the file grows meanwhile.
      const content = Buffer.allocUnsafe(size);
      let length = 0;
      for (let read = -1; read !== 0 && length < size; length += read)
        read = readSync(file, content, length, size - length, length);
      return content.subarray(0, length);
    });
  }

  /** Like {@link read}; undefined if there is no such file. @throws {UnexpectedFileError} */
  readIfThere(name: Name, expected: Expected): Buffer | undefined {
    try {
      return this.read(name, expected);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Creates a file, and replaces any existing entry. */
  write(name: Name, content: string | Uint8Array, mode: number, owner?: Owner): void {
    this.remove(name);
    const bytes = Buffer.from(content);
    const file = openSync(this.#at(name), newFile, mode);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      if (owner) fchownSync(file, owner.uid, owner.gid);
      fchmodSync(file, mode);
    } finally {
      closeSync(file);
    }
  }

  /** Creates a symbolic link, and replaces any existing entry. */
  link(name: Name, target: Name): void {
    this.remove(name);
    symlinkSync(target, this.#at(name));
  }

  /**
   * Copies an opened file to a new one, with at most the size that it had when it was opened. Does not use Node's
   * copyFile, because it creates the copy with the permissions of the original: root's copy of a set-user-id file
   * would let users become root.
   */
  copyIn(name: Name, file: number, { size }: Stats, mode: number, owner?: Owner): void {
    const copy = openSync(this.#at(name), newFile, 0o600);
    try {
      const piece = Buffer.allocUnsafe(Math.min(size, pieceBytes));
      for (let done = 0, read = -1; done < size && read !== 0; done += read) {
        read = readSync(file, piece, 0, Math.min(piece.length, size - done), done);
        for (let written = 0; written < read; ) written += writeSync(copy, piece, written, read - written);
      }
      if (owner) fchownSync(copy, owner.uid, owner.gid);
      fchmodSync(copy, mode);
    } finally {
      closeSync(copy);
    }
  }

  /** Creates a hard link to an opened file. @throws {UnexpectedFileError} if the name means another file by now */
  linkIn(to: Folder, name: Name, as: Name, { ino, dev }: Stats): void {
    linkSync(this.#at(name), to.#at(as));
    const linked = to.look(as);
    if (linked?.ino === ino && linked.dev === dev) return;
    to.remove(as);
    throw this.#unexpected(name, 'being replaced');
  }

  move(name: Name, to: Folder, as: Name): void {
    renameSync(this.#at(name), to.#at(as));
  }

  /** Removes an entry with all its contents, at any depth, if it exists. */
  remove(name: Name): void {
    removeTree(this, name);
  }

  /** Removes anything but a folder, if it exists. @returns false for a folder */
  unlink(name: Name): boolean {
    try {
      unlinkSync(this.#at(name));
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return true;
      // On systems other than Linux, EPERM means that it is a folder.
      if (['EISDIR', 'EPERM'].includes(codeOf(error)) && this.look(name)?.isDirectory()) return false;
      throw error;
    }
  }

  /** @returns false if it is not empty */
  removeEmpty(name: Name): boolean {
    try {
      rmdirSync(this.#at(name));
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOTEMPTY') return false;
      throw error;
    }
  }
}
