import { refusedArgument } from '#run/cli-arguments.ts';
import type { Job } from '#run/protocols/runner.ts';
import { PhaseError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { tokenVariables } from './credentials.ts';
import { garbageCollection } from './memory.ts';
import { effective } from './variables.ts';

/** The operator's settings for Go's garbage collection, which replace the runner's (memory.ts). */
const memory = ['GOGC', 'GOMEMLIMIT'];

/** Variables of the runner's own environment that Terraform may see, besides those that an agent's operator names. */
const passedOn = [
  ...memory,
  'PATH',
  'LANG',
  'LC_ALL',
  'TZ',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'TF_PLUGIN_CACHE_DIR',
];

/** How the runner stores state and controls Terraform: a workspace's variables cannot override these. */
const internal = /^(TF_DATA_DIR|TF_WORKSPACE|TF_INPUT|TF_IN_AUTOMATION|STEPFORM_.*)$/;

/** The environment for reading plans and states, without the workspace's variables. */
export const readerEnvironment = (
  { workspace }: Job,
  { inherited }: Settings,
  { home, temporary, availableBytes }: Place,
): Record<string, string> => ({
  ...garbageCollection(availableBytes),
  ...Object.fromEntries(
    ['PATH', 'LANG', 'LC_ALL', 'TZ', ...memory].flatMap((name) => {
      const value = inherited[name];
      return value === undefined ? [] : [[name, value]];
    }),
  ),
  HOME: home,
  TMPDIR: temporary,
  TF_IN_AUTOMATION: '1',
  TF_INPUT: '0',
  CHECKPOINT_DISABLE: '1',
  TF_WORKSPACE: workspace.name,
});

export interface Place {
  home: string;
  temporary: string;
  /** Memory that can still be used. */
  availableBytes: number;
}

/**
 * The complete environment of Terraform's processes. Only here are the workspace's variables of category `env` set.
 * @throws {PhaseError} for a variable that a process cannot have, and for arguments that the platform rejects
 */
export const terraformEnvironment = (
  job: Job,
  settings: Settings,
  { home, temporary, availableBytes }: Place,
): Record<string, string> => {
  const environment = garbageCollection(availableBytes);
  for (const name of [...passedOn, ...settings.passOn]) {
    const value = settings.inherited[name];
    if (value !== undefined) environment[name] = value;
  }
  Object.assign(environment, {
    HOME: home,
    TMPDIR: temporary,
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
    // The value of `terraform.workspace`.
    TF_WORKSPACE: job.workspace.name,
    ...tokenVariables(job, settings),
    ...job.environment,
    TFE_RUN_ID: job.runId,
  });
  if (job.operation.debug) environment.TF_LOG = 'TRACE';
  for (const { key, value } of effective(job.variables, 'env')) {
    if (internal.test(key)) continue;
    if (!/^[^=\0]+$/.test(key) || value.includes('\0')) {
      throw new PhaseError(`The environment variable "${key}" cannot be set: correct or remove it in the workspace.`);
    }
    environment[key] = value;
  }
  for (const [key, value] of Object.entries(environment)) {
    const problem = refusedArgument(key, value);
    if (problem) throw new PhaseError(`The environment variable ${key} cannot be used: ${problem}`);
  }
  return environment;
};

/** The flag that corresponds to HCP Terraform's `TFE_PARALLELISM`. */
export const parallelism = ({ TFE_PARALLELISM: value }: Record<string, string>): string[] => {
  if (!value) return [];
  if (/^[1-9]\d{0,3}$/.test(value)) return [`-parallelism=${value}`];
  throw new PhaseError(`The environment variable TFE_PARALLELISM is "${value}": it must be a whole number from 1.`);
};
