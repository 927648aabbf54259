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
 * What a phase begins with is recorded when it is initialized, before any code of the configuration has run: the
 * configuration with its modules, the lock file, the state. Plans are read there, and an apply by the plan's runner
 * begins with a copy of it, so that nothing the plan's code changed is what the apply runs.
 */

/** A phase whose folders are there. */
interface Begun {
  files: JobDirectory;
  user: User;
}

/** The working directory as it was recorded. */
export const recordedDirectory = (
  { files }: Pick<Begun, 'files'>,
  { directory }: Pick<Prepared, 'directory'>,
): string => join(files.kept.configuration, relative(realpathSync(files.configuration), directory));

/** To be called when Terraform is initialized. */
export const record = ({ files, user }: Begun, { directory, module }: Prepared): void => {
  shareProviders(join(directory, '.terraform'), files.providers, user.owner);
  take(files.pluginCache, user.owner);
  copyTree(files.configuration, files.kept.configuration, user.owner);
  if (files.backend) writeBackend(files.backend.text, recordedDirectory({ files }, { directory }), module);
  if (existsSync(files.state)) copyFileSync(files.state, files.kept.state);
};

/** All users read the same ones, and none can change them; Terraform compares them with the lock file besides. */
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
  /** The plan's configuration folder, out of the way. */
  left: string;
  /** Whose it was. */
  of: Owner | undefined;
  /** Whether the apply shows itself to clouds as what the plan was. */
  sameIdentity: boolean;
}

/**
 * Makes the folder of an apply from what the plan's runner recorded. Files that the plan has added (an archive of a function's
 * code, say) come along, unless the apply has more rights in a cloud than the plan had.
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
