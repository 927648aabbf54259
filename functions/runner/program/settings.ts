import { homedir } from 'node:os';
import { join } from 'node:path';

/** The runner's environment variables, read only in this file. */
export interface Settings {
  /** Base URL of the control plane, without a slash at the end. */
  url: string;
  /** Host names, with ports, of the control plane's public API as Terraform reaches it. */
  hosts: string[];
  /** Single use; exchanged for a job at once. */
  claim: string;
  /** Folder for downloaded binaries, their versions, and states that could not be uploaded. */
  cacheDirectory: string;
  /** Folder of unpacked providers that the machine's runs share; absent where the disk is gone with the runner. */
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
  /** The environment the runner was started with, without its own secrets. */
  inherited: Record<string, string | undefined>;
}

const required = (environment: NodeJS.ProcessEnv, name: string): string => {
  const value = environment[name];
  if (!value) throw new Error(`environment variable ${name} is not set`);
  return value;
};

const usersOf = ({ STEPFORM_TERRAFORM_USERS: value = '' }: NodeJS.ProcessEnv): string => {
  // Lower ids are people's and system accounts' (login.defs: UID_MAX); the highest is "nobody".
  if (value === '' || value === 'none' || (/^\d{5,9}$/.test(value) && Number(value) >= 60_000)) return value;
  throw new Error(`STEPFORM_TERRAFORM_USERS is ${value}: it must be "none" or a user id from 60000 on`);
};

/** Removes the claim from the environment, so that no child process inherits it. */
export const takeSettings = (environment: NodeJS.ProcessEnv = process.env): Settings => {
  const url = required(environment, 'STEPFORM_URL').replace(/\/+$/, '');
  const claim = required(environment, 'STEPFORM_CLAIM');
  delete environment.STEPFORM_CLAIM;
  return {
    url,
    hosts: (environment.STEPFORM_HOSTS || new URL(url).host).split(','),
    claim,
    cacheDirectory: environment.STEPFORM_CACHE || join(homedir(), '.cache', 'stepform'),
    providerCache: environment.STEPFORM_PROVIDER_CACHE || undefined,
    releases: {
      terraform: environment.STEPFORM_TERRAFORM_RELEASES || 'https://releases.hashicorp.com/terraform',
      tofu: environment.STEPFORM_TOFU_RELEASES || 'https://github.com/opentofu/opentofu/releases/download',
      tofuIndex: environment.STEPFORM_TOFU_INDEX || 'https://get.opentofu.org/tofu/api.json',
    },
    passOn: (environment.STEPFORM_PASS_ON ?? '').split(',').filter(Boolean),
    terraformUsers: usersOf(environment),
    inherited: { ...environment },
  };
};
