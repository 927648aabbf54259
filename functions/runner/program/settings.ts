import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { plainHttpProblem } from '#platform/net/transport/plain-http.ts';
import { isHidden } from './terraform/machine.ts';

/** The runner's environment variables, read only in this file. */
export interface Settings {
  /** Base URL of the control plane, without a slash at the end. */
  url: string;
  /** Host names, with ports, of the control plane's public API as Terraform reaches it. */
  hosts: string[];
  /** Single use; exchanged for a job at once. */
  claim: string;
  /** Folder for downloaded binaries and their versions. */
  cacheDirectory: string;
  /** Folder for states that could not be uploaded. */
  keptStates: string;
  /** Folder of unpacked providers that the machine's runs share; absent if the disk is deleted with the runner. */
  providerCache?: string;
  /**
   * Base URLs of Terraform and OpenTofu releases; mirrors have the same layout. Signatures are verified in any case.
   */
  releases: { terraform: string; tofu: string; tofuIndex: string };
  /** Further environment variables that Terraform may see, as the operator of an agent allows. */
  passOn: string[];
  /**
   * First of the user ids that Terraform must run as; `none`: the runner's own; empty: separate ones where possible.
   */
  terraformUsers: string;
  /** Whether Terraform runs in rooms where possible (terraform/room.ts). */
  rooms: boolean;
  /** Folders of the machine that runs may write, as far as their users have the right to. */
  roomFolders: string[];
  /** The environment the runner was started with, without its own secrets. */
  inherited: Record<string, string | undefined>;
}

const required = (environment: NodeJS.ProcessEnv, name: string): string => {
  const value = environment[name];
  if (!value) throw new Error(`environment variable ${name} is not set`);
  return value;
};

const usersOf = ({ STEPFORM_TERRAFORM_USERS: value = '' }: NodeJS.ProcessEnv): string => {
  // Lower ids belong to people and system accounts (login.defs: UID_MAX).
  if (value === '' || value === 'none' || (/^\d{5,9}$/.test(value) && Number(value) >= 60_000)) return value;
  throw new Error(`STEPFORM_TERRAFORM_USERS is ${value}: it must be "none" or a user id from 60000 on`);
};

const roomsOf = ({ STEPFORM_ROOMS: value = '' }: NodeJS.ProcessEnv): boolean => {
  if (value === '' || value === 'none') return value === '';
  throw new Error(`STEPFORM_ROOMS is ${value}: it must be "none", or absent`);
};

/** Rooms replace the machine's temporary folders by their own. */
const roomFoldersOf = ({ STEPFORM_ROOM_FOLDERS: value = '' }: NodeJS.ProcessEnv): string[] => {
  const folders = value.split(':').filter(Boolean);
  const wrong = folders.find((folder) => resolve(folder) !== folder || isHidden(folder));
  if (wrong === undefined) return folders;
  throw new Error(
    `STEPFORM_ROOM_FOLDERS has ${wrong}: it must list absolute paths outside of /tmp, /var/tmp and /dev/shm, separated by colons`,
  );
};

/** Settings for the separation of runs. @throws {Error} that names the variable */
export const separationIn = (
  environment: NodeJS.ProcessEnv = process.env,
): Pick<Settings, 'terraformUsers' | 'rooms' | 'roomFolders'> => ({
  terraformUsers: usersOf(environment),
  rooms: roomsOf(environment),
  roomFolders: roomFoldersOf(environment),
});

/** Removes the claim from the environment, so that no child process inherits it. */
export const takeSettings = (environment: NodeJS.ProcessEnv = process.env): Settings => {
  const url = required(environment, 'STEPFORM_URL').replace(/\/+$/, '');
  const problem = URL.canParse(url) ? plainHttpProblem(new URL(url), environment) : undefined;
  if (problem) throw new Error(`STEPFORM_URL: ${problem}`);
  const claim = required(environment, 'STEPFORM_CLAIM');
  delete environment.STEPFORM_CLAIM;
  const cacheDirectory = environment.STEPFORM_CACHE || join(homedir(), '.cache', 'stepform');
  return {
    url,
    hosts: (environment.STEPFORM_HOSTS || new URL(url).host).split(','),
    claim,
    cacheDirectory,
    keptStates: environment.STEPFORM_UNSAVED_STATES || join(cacheDirectory, 'unsaved-states'),
    providerCache: environment.STEPFORM_PROVIDER_CACHE || undefined,
    releases: {
      terraform: environment.STEPFORM_TERRAFORM_RELEASES || 'https://releases.hashicorp.com/terraform',
      tofu: environment.STEPFORM_TOFU_RELEASES || 'https://github.com/opentofu/opentofu/releases/download',
      tofuIndex: environment.STEPFORM_TOFU_INDEX || 'https://get.opentofu.org/tofu/api.json',
    },
    passOn: (environment.STEPFORM_PASS_ON ?? '').split(',').filter(Boolean),
    ...separationIn(environment),
    inherited: { ...environment },
  };
};
