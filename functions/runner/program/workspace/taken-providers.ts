import { realpathSync, type Stats } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { messageOf } from '#platform/net/transport/errors.ts';
import { PhaseError } from '../errors.ts';
import type { Owner } from '../terraform/owner.ts';
import { Folder } from './door.ts';
import type { Name } from './remove-tree.ts';
import { Budget, checkDepth, readable } from './tree.ts';
import { UnexpectedFileError } from './unexpected-file.ts';

/**
 * Moves the providers that `terraform init` installed into a folder of the runner, as regular files, so that they
 * cannot change after they were verified. Terraform itself installs providers from a plugin cache or an unpacked
 * mirror as links, and foreign code may have created other links: each link is followed with the permissions of
 * Terraform's user, not with the runner's.
 */

/** `.terraform/providers/<host>/<namespace>/<type>/<version>/<platform>`. */
const levels = ['host', 'namespace', 'type', 'version', 'platform'];

const limits = { files: 50_000, bytes: 5 * 2 ** 30 };

const runner: Owner = { uid: 0, gid: 0 };

const [read, enter] = [0o4, 0o1];

interface Taking {
  /** Terraform's user. */
  user: Owner;
  /**
   * Moves packages instead of copying them. A process that opened a file for writing can still write after the move,
   * even a process of another run that received the open file, so this is only for machines with a single run.
   */
  moves: boolean;
  budget: Budget;
}

/**
 * @param data the open folder `.terraform`; its `providers` are not needed afterwards
 * @throws {PhaseError} for a package that Terraform's user could not read itself
 */
export const takeProviders = (data: Folder, to: string, { user, moves }: Omit<Taking, 'budget'>): void => {
  const taking = { user, moves, budget: new Budget('The providers', limits) };
  Folder.at(dirname(to), (folder) => {
    folder.makeFolder(basename(to), 0o755);
    folder.within(basename(to), (target) => data.within('providers', (source) => takeLevel(source, target, taking)));
  });
};

const takeLevel = (source: Folder, target: Folder, taking: Taking, level = 0): void => {
  for (const entry of source.entries()) {
    const { name } = entry;
    if (levels[level] === 'platform') takePackage(source, target, name, taking);
    else if (entry.isSymbolicLink()) throw new UnexpectedFileError(`${source.path}/${name}`, 'a symbolic link');
    else if (entry.isDirectory()) {
      target.makeFolder(name, 0o755);
      source.within(name, (from) => target.within(name, (to) => takeLevel(from, to, taking, level + 1)));
    }
  }
};

const takePackage = (source: Folder, target: Folder, name: Name, taking: Taking): void => {
  const copy = (from: Folder): void => {
    target.makeFolder(name, 0o755);
    target.within(name, (to) => copyPackage(from, to, taking));
  };
  const stats = source.look(name);
  if (stats?.isSymbolicLink()) asUser(`${source.path}${sep}${name}`, taking.user, copy);
  else if (stats?.isDirectory() && !taking.moves) source.within(name, copy);
  else if (stats?.isDirectory()) {
    source.move(name, target, name);
    target.within(name, (taken) => ownPackage(taken, taking));
  }
};

/** @throws {UnexpectedFileError} for any file that Terraform's user cannot read */
const copyPackage = (from: Folder, to: Folder, taking: Taking, depth = 0): void => {
  checkDepth(depth);
  const copyFile = (folder: Folder, found: Name, as: Name): void =>
    folder.open(found, (file, stats) => {
      if (!may(taking.user, stats, read)) throw unreadable(`${folder.path}${sep}${found}`);
      if (isRunners(stats) && linked(() => folder.linkIn(to, found, as, stats))) return;
      taking.budget.spend(stats.size);
      to.copyIn(as, file, stats, readable(stats.mode));
    });
  for (const entry of from.entries()) {
    const { name } = entry;
    const path = `${from.path}${sep}${name}`;
    if (entry.isDirectory()) {
      to.makeFolder(name, 0o755);
      from.within(name, (below) => to.within(name, (target) => copyPackage(below, target, taking, depth + 1)));
    } else if (entry.isSymbolicLink()) {
      const real = realPath(path);
      asUser(dirname(real), taking.user, (folder) => copyFile(folder, basename(real), name));
    } else copyFile(from, name, name);
  }
};

/** Makes files and folders the runner's, except files of the machine's cache, which already are. */
const ownPackage = (folder: Folder, taking: Taking, depth = 0): void => {
  checkDepth(depth);
  for (const entry of folder.entries()) {
    const { name } = entry;
    if (entry.isDirectory()) folder.within(name, (below) => ownPackage(below, taking, depth + 1));
    else {
      const isTheirs = folder.open(name, (_, { uid }) => uid === taking.user.uid);
      if (!isTheirs) continue;
      const { mode } = folder.openPlain(name, { of: taking.user, maxBytes: limits.bytes }, (_, stats) => stats);
      folder.own(name, runner);
      folder.setMode(name, readable(mode));
    }
  }
  folder.become(runner, 0o755);
};

/** Only the runner's user could ever write to the file: it is from the machine's cache, or from the owner's mirror. */
const isRunners = ({ uid, mode }: Stats): boolean => uid === runner.uid && (mode & 0o7022) === 0 && (mode & read) !== 0;

/** @returns false if it is on another file system */
const linked = (link: () => void): boolean => {
  try {
    link();
    return true;
  } catch (error) {
    if (error instanceof UnexpectedFileError) throw error;
    return false;
  }
};

/** access(2) for another user, ignoring supplementary groups. */
const may = ({ uid, gid }: Owner, stats: Stats, wanted: number): boolean => {
  const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0;
  return (stats.mode >> shift) % 8 === (((stats.mode >> shift) % 8) | wanted);
};

const unreadable = (path: string): UnexpectedFileError =>
  new UnexpectedFileError(path, "not readable by Terraform's user");

/** @throws {PhaseError} */
const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new PhaseError(`A provider is installed by a link that leads nowhere: ${messageOf(error)}.`);
  }
};

/**
 * Opens a folder with the permissions of another user. If links in its path change meanwhile, the folder is not
 * found.
 */
const asUser = <T>(path: string, user: Owner, work: (folder: Folder) => T): T => {
  const descend = (folder: Folder, [name, ...rest]: string[]): T => {
    if (!may(user, folder.stats, name === undefined ? read | enter : enter)) throw unreadable(path);
    return name === undefined ? work(folder) : folder.within(name, (below) => descend(below, rest));
  };
  const names = realPath(path).split(sep).filter(Boolean);
  return Folder.at(sep, (root) => descend(root, names));
};
