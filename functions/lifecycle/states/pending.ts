import { notify } from '#lifecycle/phases/notifications.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { startIfFree } from '#lifecycle/queue/queue.ts';
import { awaitsTurn } from '#lifecycle/queue/turns.ts';

/**
 * Waits until the run is first in the queue. Starts the queue itself, because no other function does if the workspace
 * became free meanwhile.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const run = await enterState(runId, 'Pending', attempt);
  if (awaitsTurn(run)) await startIfFree(run.workspaceId);
  await notify(run);
};
