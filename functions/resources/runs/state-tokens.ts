import { createHmac } from 'node:crypto';
import { hashSecret, isSecretOf } from '#platform/store/id.ts';
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

/**
 * The one hash by which a phase knows both tokens: of the state token. That is derived from the runner's token, and does
 * not reveal it.
 */
export const tokenHashOf = (runId: string, phase: PhaseName, runnerToken: string): string =>
  hashSecret(stateTokenOf(runId, phase, runnerToken));

/** Whether it is the runner's token of the phase. */
export const isRunnerToken = ({ id, ...run }: Run, phase: PhaseName, token: string): boolean =>
  isSecretOf(run[phase].tokenHash, stateTokenOf(id, phase, token));

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
  const { tokenHash, report } = run[name as PhaseName];
  return !report && isSecretOf(tokenHash, secret) ? run : undefined;
};
