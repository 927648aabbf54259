import type { PolicySetOutcome } from '../run/policies.ts';
import { charactersOf } from '../run/policy-status.ts';
import { getObject, putObject } from '../store/bucket.ts';
import { hashSecret as digestOf } from '../store/id.ts';
import { keys, objects } from '../store/keys.ts';
import { create, get } from '../store/table.ts';

/**
 * What policies said of a run: a small item with its verdict, and an object with every policy's words. Ids begin with
 * their run's characters, so that finding them costs nothing; a run has one evaluation and one check at most.
 */

/** `evaluation` of the sets of kind `opa`, `check` of those of kind `sentinel`. */
export type ResultKind = 'evaluation' | 'check';

export interface PolicyResult {
  runId: string;
  verdict: string;
  /** Which policies failed, for people. */
  reason?: string;
  /** By level (run/policies.ts: resultCount, checkCount). */
  count: Record<string, number>;
  /** How many sets were judged. */
  setCount: number;
  at: string;
  durationMs: number;
  detailsKey: string;
}

export const policyEvaluationId = (runId: string): string => `poleval-${charactersOf(runId)}`;

/** `number`: its place among the sets, from 0. */
export const policySetOutcomeId = (runId: string, number: number): string =>
  `psout-${charactersOf(runId)}${number.toString(36)}`;

const form = /^(?:poleval|polchk)-([A-Za-z0-9]{16})$/;

const outcomeForm = /^psout-([A-Za-z0-9]{16})([0-9a-z]{1,4})$/;

/** The run that an id of an evaluation or a check can only be of. */
export const runOfPolicyResult = (id: string): string | undefined => {
  const characters = form.exec(id)?.[1];
  return characters && `run-${characters}`;
};

export const readPolicySetOutcomeId = (id: string): { runId: string; number: number } | undefined => {
  const [, characters, number = ''] = outcomeForm.exec(id) ?? [];
  return characters === undefined ? undefined : { runId: `run-${characters}`, number: Number.parseInt(number, 36) };
};

export const getPolicyResult = (runId: string, kind: ResultKind): Promise<PolicyResult | undefined> =>
  get<PolicyResult>(keys.policyResult(runId, kind));

/** Keeps the result unless there is one: the first stands. Returns the one that does. */
export const keepPolicyResult = async (
  kind: ResultKind,
  result: Omit<PolicyResult, 'detailsKey'>,
  sets: PolicySetOutcome[],
): Promise<PolicyResult> => {
  const content = JSON.stringify(sets);
  const detailsKey = objects.policyResult(result.runId, kind, digestOf(content));
  await putObject(detailsKey, content, 'application/json');
  const stored: PolicyResult = { ...result, detailsKey };
  if (await create({ ...keys.policyResult(result.runId, kind), ...stored })) return stored;
  return (await getPolicyResult(result.runId, kind)) ?? stored;
};

/** What each set said; nothing once that has expired (infra/settings.ts: runRetentionDays). */
export const readPolicySetOutcomes = async ({
  detailsKey,
}: Pick<PolicyResult, 'detailsKey'>): Promise<PolicySetOutcome[]> => {
  const content = await getObject(detailsKey);
  return content ? (JSON.parse(content.toString('utf8')) as PolicySetOutcome[]) : [];
};
