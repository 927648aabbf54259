import { notify } from '../orchestration/notifications.ts';
import { enterState, type WaitingTask } from '../orchestration/progress.ts';
import { startIfFree } from '../orchestration/queue.ts';
import { awaitsTurn } from '../orchestration/turns.ts';

/**
 * Waits until the run is first in the queue. Starts the queue itself, because nothing else does if the workspace has become
 * free meanwhile.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const run = await enterState(runId, 'Pending', attempt);
  if (awaitsTurn(run)) await startIfFree(run.workspaceId);
  await notify(run);
};
