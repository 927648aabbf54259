import { getObject, putObject } from '#platform/store/bucket.ts';
import { hashSecret as digestOf } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { create, get } from '#platform/store/table.ts';
import type { PolicySetOutcome } from '#run/policies.ts';
import { charactersOf } from '#run/policy-status.ts';

/**
 * Policy results of a run: a small item with the verdict, and an object with each policy's output. Ids start with
 * their run's characters, so that no lookup is needed; a run has at most one evaluation and one check.
 */

/** `evaluation` for sets of kind `opa`, `check` for sets of kind `sentinel`. */
export type ResultKind = 'evaluation' | 'check';

export interface PolicyResult {
  runId: string;
  verdict: string;
  /** Names of the failed policies, shown to users. */
  reason?: string;
  /** Results by enforcement level (run/policies.ts: resultCount, checkCount). */
  count: Record<string, number>;
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

/** The run that an evaluation or a check belongs to, from its id. */
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

/** Stores the result unless one exists. Returns the stored one. */
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

/** The outcome of each set; empty once it has expired (infra/settings/settings.ts: runRetentionDays). */
export const readPolicySetOutcomes = async ({
  detailsKey,
}: Pick<PolicyResult, 'detailsKey'>): Promise<PolicySetOutcome[]> => {
  const content = await getObject(detailsKey);
  return content ? (JSON.parse(content.toString('utf8')) as PolicySetOutcome[]) : [];
};
