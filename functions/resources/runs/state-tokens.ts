import { createHmac, timingSafeEqual } from 'node:crypto';
import { hashSecret } from '#platform/store/id.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { getRun } from './records.ts';

/**
 * What Terraform in a run may show to the public API: a token that reads the current state of the workspaces that share
 * theirs with the run's (HCP Terraform: remote state in runs), and nothing else. Customers' code sees it, so it is not
 * the runner's own token, and says nothing about that one. It is good while its phase is worked on.
 */

/** Begins every such token, so that scanners for leaked secrets can know it. */
const prefix = 'sfr_';
const form = /^sfr_([A-Za-z0-9]{16})\.(plan|apply)\.[A-Za-z0-9_-]{43}$/;

/** Follows from the runner's token for the phase, so that it can be told again when a claim is repeated. */
export const stateTokenOf = (runId: string, phase: PhaseName, runnerToken: string): string => {
  const secret = createHmac('sha256', runnerToken).update('state').digest('base64url');
  return `${prefix}${runId.replace(/^run-/, '')}.${phase}.${secret}`;
};

export const isStateToken = (secret: string): boolean => secret.startsWith(prefix);

/** The run that a token says it is of; undefined when it is no such token. */
export const runIdIn = (secret: string): string | undefined => {
  const [, characters] = form.exec(secret) ?? [];
  return characters && `run-${characters}`;
};

/** The run whose Terraform shows the token; undefined when the token is not known or its phase is over. 1 read. */
export const findRunOfStateToken = async (secret: string): Promise<Run | undefined> => {
  const [, characters, name] = form.exec(secret) ?? [];
  const run = characters ? await getRun(`run-${characters}`) : undefined;
  if (!run || isFinal(run.status) || run.cancel?.forced) return undefined;
  const { stateTokenHash = '', report } = run[name as PhaseName];
  const hash = hashSecret(secret);
  if (report || stateTokenHash.length !== hash.length) return undefined;
  return timingSafeEqual(Buffer.from(stateTokenHash), Buffer.from(hash)) ? run : undefined;
};
