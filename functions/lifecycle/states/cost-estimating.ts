import { type CheckTask, enterCheck, nextOutput } from '#lifecycle/phases/progress.ts';
import { abandonCosts, estimateCosts } from '#resources/costs/records.ts';
import { getRun } from '#resources/runs/records.ts';
import type { CaughtError } from '#run/ending.ts';
import type { Next } from '#run/lifecycle.ts';

export interface CostEstimatingTask extends CheckTask {
  /** The error of a failed estimate. */
  error?: CaughtError;
}

/** Estimates the plan's costs. The run continues regardless of the outcome. */
export const handler = async ({ runId, error }: CostEstimatingTask): Promise<{ next: Next }> => {
  const run = await enterCheck(runId, 'CostEstimating');
  if (error) await abandonCosts(run, `Cost estimation failed (${error.Error}).`);
  else await estimateCosts(run);
  return nextOutput((await getRun(runId)) ?? run);
};
