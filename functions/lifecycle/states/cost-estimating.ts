import { abandonCosts, estimateCosts } from '../costs/records.ts';
import { type CheckTask, enterCheck, nextOutput } from '../orchestration/progress.ts';
import type { CaughtError } from '../run/ending.ts';
import type { Next } from '../run/lifecycle.ts';
import { getRun } from '../runs/records.ts';

export interface CostEstimatingTask extends CheckTask {
  /** The error of a failed estimate. */
  error?: CaughtError;
}

/** Estimates the plan's costs. The run continues whatever the outcome. */
export const handler = async ({ runId, error }: CostEstimatingTask): Promise<{ next: Next }> => {
  const run = await enterCheck(runId, 'CostEstimating');
  if (error) await abandonCosts(run, `Cost estimation failed (${error.Error}).`);
  else await estimateCosts(run);
  return nextOutput((await getRun(runId)) ?? run);
};
