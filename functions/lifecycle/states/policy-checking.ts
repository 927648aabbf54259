import { type CheckTask, enterCheck, nextOutput, recordVerdict } from '#lifecycle/phases/progress.ts';
import { checkPolicies } from '#resources/policies/engine/evaluate-run.ts';
import type { Next } from '#run/lifecycle.ts';

/** Checks the run's policy sets with three levels, which can use the cost estimate. */
export const handler = async ({ runId }: CheckTask): Promise<{ next: Next }> => {
  const run = await enterCheck(runId, 'PolicyChecking');
  const { verdict, reason } = await checkPolicies(run);
  return nextOutput(await recordVerdict(run, 'policyCheck', verdict, reason));
};
