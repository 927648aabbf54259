import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { assignRunner } from '#lifecycle/runners/ready-runners.ts';

/** Reserves the plan's runner if it is still ready, or another ready one, or starts one; then waits for the claim. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const run = await enterState(runId, 'ApplyQueued', attempt);
  if (run.status === 'apply_queued') await assignRunner(run, 'apply');
};
