import { type CheckTask, enterCheck, nextOutput, recordVerdict } from '#lifecycle/phases/progress.ts';
import { evaluatePolicies } from '#resources/policies/engine/evaluate-run.ts';
import type { Next } from '#run/lifecycle.ts';

/** Evaluates the run's policy sets with OPA. */
export const handler = async ({ runId }: CheckTask): Promise<{ next: Next }> => {
  const run = await enterCheck(runId, 'PolicyEvaluating');
  const { verdict, reason } = await evaluatePolicies(run);
  return nextOutput(await recordVerdict(run, 'policyEvaluation', verdict, reason));
};
