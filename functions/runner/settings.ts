import { homedir } from 'node:os';
import { join } from 'node:path';

/** The runner's environment, read in this file and nowhere else. */
export interface Settings {
  /** Base URL of the control plane, without a slash at the end. */
  url: string;
  /** Names, with ports, by which Terraform reaches the control plane's public API. */
  hosts: string[];
  /** Single use; exchanged for a job at once. */
  claim: string;
  /** Downloaded binaries, remembered versions, states that could not be uploaded. */
  cacheDirectory: string;
  /** Unpacked providers that runs on this machine share; absent where the disk does not outlive the runner. */
  providerCache?: string;
  /** Where Terraform and OpenTofu releases are found; a mirror has the same layout. Signatures are checked all the same. */
  releases: { terraform: string; tofu: string; tofuIndex: string };
  /** More of its environment that Terraform may see: on machines of agents, whose owners say so. */
  passOn: string[];
  /** First of the user ids that Terraform must run as; `none` for the runner's own; empty: others where possible. */
  terraformUsers: string;
  /** What the runner was started with, less its own secrets. */
  inherited: Record<string, string | undefined>;
}

const required = (environment: NodeJS.ProcessEnv, name: string): string => {
  const value = environment[name];
  if (!value) throw new Error(`environment variable ${name} is not set`);
  return value;
};

const usersOf = ({ STEPFORM_TERRAFORM_USERS: value = '' }: NodeJS.ProcessEnv): string => {
  // Lower ones are people's and systems' (login.defs: UID_MAX), the highest is nobody in particular.
  if (value === '' || value === 'none' || (/^\d{5,9}$/.test(value) && Number(value) >= 60_000)) return value;
  throw new Error(`STEPFORM_TERRAFORM_USERS is ${value}: it must be "none" or a user id from 60000 on`);
};

/** Takes the claim out of the environment, so that nothing started later inherits it. */
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
