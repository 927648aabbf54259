import { createHmac } from 'node:crypto';
import { isSecretOf } from '#platform/store/id.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { getRun } from './records.ts';

/**
 * Tokens for Terraform inside a run. They read the current state of workspaces that share it with the run's workspace
 * (HCP Terraform: remote state in runs), and nothing else. Customers' code can see this token, so it differs from the
 * runner's token and does not reveal it. It is valid during its phase.
 */

/** Prefix of these tokens, by which secret scanners recognize leaked ones. */
const prefix = 'sfr_';
const form = /^sfr_([A-Za-z0-9]{16})\.(plan|apply)\.[A-Za-z0-9_-]{43}$/;

/** Derived from the runner's token for the phase, so that a repeated claim returns the same token. */
export const stateTokenOf = (runId: string, phase: PhaseName, runnerToken: string): string => {
  const secret = createHmac('sha256', runnerToken).update('state').digest('base64url');
  return `${prefix}${runId.replace(/^run-/, '')}.${phase}.${secret}`;
};

export const isStateToken = (secret: string): boolean => secret.startsWith(prefix);

/** Run id in a state token; undefined when the text is not such a token. */
export const runIdIn = (secret: string): string | undefined => {
  const [, characters] = form.exec(secret) ?? [];
  return characters && `run-${characters}`;
};

/** The run of the state token; undefined when the token is unknown or its phase is over. 1 read. */
export const findRunOfStateToken = async (secret: string): Promise<Run | undefined> => {
  const [, characters, name] = form.exec(secret) ?? [];
  const run = characters ? await getRun(`run-${characters}`) : undefined;
  if (!run || isFinal(run.status) || run.cancel?.forced) return undefined;
  const { stateTokenHash, report } = run[name as PhaseName];
  return !report && isSecretOf(stateTokenHash, secret) ? run : undefined;
};
