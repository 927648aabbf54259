import { notify } from '../orchestration/notifications.ts';
import { enterState } from '../orchestration/progress.ts';
import { startNext } from '../orchestration/queue.ts';
import { takesQueue } from '../run/machine-states.ts';
import type { WaitingTask } from './waiting.ts';

/** Waits for the run's turn; tries at once, because nobody else will if the workspace is free. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const run = await enterState(runId, 'Pending', attempt);
  if (takesQueue(run) && !run.current && !run.cancel && !run.decision) await startNext(run.workspaceId);
  await notify(run);
};
