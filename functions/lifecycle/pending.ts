import { notify } from '../orchestration/notifications.ts';
import { enterState, type WaitingTask } from '../orchestration/progress.ts';
import { startNext } from '../orchestration/queue.ts';
import { takesQueue } from '../run/machine-states.ts';

/** Waits until the run is first in the queue. Starts the queue itself, because nothing else does on a free workspace. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const run = await enterState(runId, 'Pending', attempt);
  if (takesQueue(run) && !run.current && !run.cancel && !run.decision) await startNext(run.workspaceId);
  await notify(run);
};
