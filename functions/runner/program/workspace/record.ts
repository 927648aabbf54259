import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Job } from '#run/protocols/runner.ts';
import type { Prepared } from '../prepared.ts';
import type { Settings } from '../settings.ts';
import type { Owner } from '../terraform/owner.ts';
import type { User } from '../terraform/users.ts';
import { linkBackend, writeBackend } from './configuration.ts';
import { Folder } from './door.ts';
import type { JobDirectory } from './job-directory.ts';
import { maxLockFile } from './limits.ts';
import { takeProviders } from './taken-providers.ts';
import { Budget, copyTree, give, makeFolder, moveAdded, placeFile } from './tree.ts';

/**
 * Records the configuration with its modules, the providers and the lock file after `terraform init`, before the plan
 * runs code of the configuration. Plans are read in this record, and an apply by the plan's runner starts from a copy
 * of it, so that the apply never runs anything that the plan's code has changed. The record does not contain the
 * state: the runner keeps the one that it downloaded.
 */

/** A phase and its folders. */
interface Begun {
  files: JobDirectory;
  user: User;
  job: Pick<Job, 'limits'>;
  settings: Pick<Settings, 'providerCache'>;
}

const lockFileName = '.terraform.lock.hcl';

/** Installed modules count as configuration, which may be this many times as large as an archive. */
const modules = 10;

const budgetOf = ({ limits: { files, unpackedBytes } }: Begun['job']): Budget =>
  new Budget('The configuration with its modules', { files: modules * files, bytes: modules * unpackedBytes });

/** Path of the working directory below the configuration, as a list of names. */
const namesOf = (files: JobDirectory, { directory }: Pick<Prepared, 'directory'>): string[] =>
  relative(realpathSync(files.configuration), directory).split(sep).filter(Boolean);

/** The recorded working directory. */
export const recordedDirectory = ({ files }: Pick<Begun, 'files'>, prepared: Pick<Prepared, 'directory'>): string =>
  join(files.kept.configuration, ...namesOf(files, prepared));

/** Opens the working directory, which foreign code may have replaced. @throws {UnexpectedFileError} */
export const inWorkingDirectory = <T>(
  { files }: Pick<Begun, 'files'>,
  prepared: Pick<Prepared, 'directory'>,
  work: (folder: Folder) => T,
): T => Folder.at(files.configuration, (root) => root.below(namesOf(files, prepared), work));

/** @returns undefined if there is no lock file @throws {UnexpectedFileError} */
export const readLockFile = (folder: Folder, of: Owner | undefined): Buffer | undefined =>
  folder.readIfThere(lockFileName, { of, maxBytes: maxLockFile });

/** Call it right after `terraform init`. @throws {PhaseError} for files that foreign code must not create there */
export const record = ({ files, user, job, settings }: Begun, prepared: Prepared): void => {
  const { owner } = user;
  inWorkingDirectory({ files }, prepared, (folder) => {
    prepared.lockFile = readLockFile(folder, owner);
    if (!folder.look('.terraform')) return;
    folder.within('.terraform', (data) => {
      if (data.look('providers')) shareProviders(data, files.providers, owner, settings.providerCache === undefined);
    });
  });
  makeFolder(files.kept.configuration, 0o755);
  copyTree(files.configuration, files.kept.configuration, owner, budgetOf(job));
  Folder.at(files.kept.configuration, (kept) =>
    kept.below(namesOf(files, prepared), (folder) => {
      if (prepared.lockFile) folder.write(lockFileName, prepared.lockFile, 0o644);
      if (files.backend) writeBackend(files.backend.text, folder, prepared.module);
    }),
  );
};

/**
 * Moves the providers to a folder that all users can read and none can change; Terraform also verifies them against
 * the lock file.
 */
const shareProviders = (data: Folder, to: string, user: Owner | undefined, alone: boolean): void => {
  if (user) takeProviders(data, to, { user, moves: alone });
  else {
    // Without its own user, Terraform can change them in any folder.
    data.within('providers', () => {});
    Folder.at(dirname(to), (root) => data.move('providers', root, basename(to)));
  }
  data.link('providers', to);
};

/** The plan of the runner that also applies it. */
export interface Planned {
  prepared: Prepared;
  /** The plan's configuration folder, moved away. */
  left: string;
  /** The user that owned it. */
  of: Owner | undefined;
  /** The apply has the same cloud credentials as the plan. */
  sameIdentity: boolean;
}

/**
 * Creates the folder of an apply from the plan's record. Keeps files that the plan has added (such as an archive with
 * a function's code), unless the apply has other cloud credentials than the plan.
 */
export const restore = ({ files, user, job }: Begun, { left, of, sameIdentity, prepared }: Planned): void => {
  copyTree(files.kept.configuration, files.configuration, undefined, budgetOf(job));
  if (sameIdentity) moveAdded(left, files.configuration, of);
  inWorkingDirectory({ files }, prepared, (folder) => {
    if (files.backend) linkBackend(files.backend.path, folder, prepared.module);
  });
  give(files.configuration, user.owner);
  placeFile(files.kept.plan, files.plan, user.owner);
  placeState({ files, user });
};

/** Gives Terraform a copy of the state that the runner downloaded, if there is one. */
export const placeState = ({ files, user }: Pick<Begun, 'files' | 'user'>): void => {
  if (existsSync(files.downloadedState)) placeFile(files.downloadedState, files.state, user.owner);
};
