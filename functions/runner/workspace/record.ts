import { chmodSync, copyFileSync, existsSync, lstatSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PhaseError } from '../errors.ts';
import type { Prepared } from '../prepared.ts';
import type { Owner } from '../terraform/owner.ts';
import type { User } from '../terraform/users.ts';
import { linkBackend, writeBackend } from './configuration.ts';
import type { JobDirectory } from './job-directory.ts';
import { copyTree, give, moveAdded, take } from './tree.ts';

/**
 * Records the start of a phase when it is initialized, before any code of the configuration has run: the
 * configuration with its modules, the lock file, the state. Plans are read in this record, and an apply by the plan's runner
 * starts from a copy of it, so that the apply never runs anything that the plan's code has changed.
 */

/** A phase with its folders. */
interface Begun {
  files: JobDirectory;
  user: User;
}

/** The recorded working directory. */
export const recordedDirectory = (
  { files }: Pick<Begun, 'files'>,
  { directory }: Pick<Prepared, 'directory'>,
): string => join(files.kept.configuration, relative(realpathSync(files.configuration), directory));

/** Must be called right after `terraform init`. */
export const record = ({ files, user }: Begun, { directory, module }: Prepared): void => {
  shareProviders(join(directory, '.terraform'), files.providers, user.owner);
  take(files.pluginCache, user.owner);
  copyTree(files.configuration, files.kept.configuration, user.owner);
  if (files.backend) writeBackend(files.backend.text, recordedDirectory({ files }, { directory }), module);
  if (existsSync(files.state)) copyFileSync(files.state, files.kept.state);
};

/** All users share these providers and none can change them; Terraform also verifies them against the lock file. */
const shareProviders = (data: string, providers: string, user: Owner | undefined): void => {
  const installed = join(data, 'providers');
  if (!lstatSync(installed, { throwIfNoEntry: false })?.isDirectory()) return;
  if (realpathSync(installed) !== installed)
    throw new PhaseError(`${data} is a link: remove it from the configuration.`);
  renameSync(installed, providers);
  take(providers, user);
  symlinkSync(providers, installed);
};

export interface Handover {
  prepared: Prepared;
  /** The plan's configuration folder, moved away. */
  left: string;
  /** The user that owned it. */
  of: Owner | undefined;
  /** The apply has the same cloud credentials as the plan. */
  sameIdentity: boolean;
}

/**
 * Creates the folder of an apply from the plan's record. Files that the plan has added (such as an archive of a function's
 * code) are kept, unless the apply has more permissions in a cloud than the plan.
 */
export const restore = ({ files, user }: Begun, { left, of, sameIdentity, prepared }: Handover): void => {
  copyTree(files.kept.configuration, files.configuration, undefined);
  chmodSync(files.configuration, 0o700);
  if (sameIdentity) moveAdded(left, files.configuration, of);
  if (files.backend) linkBackend(files.backend.path, prepared.directory, prepared.module);
  copyFileSync(files.kept.plan, files.plan);
  if (existsSync(files.kept.state)) copyFileSync(files.kept.state, files.state);
  for (const path of [files.configuration, files.plan, files.state]) give(path, user.owner);
};
