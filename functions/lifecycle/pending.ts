import { notify } from '../orchestration/notifications.ts';
import type { WaitingTask } from '../orchestration/progress.ts';
import { startNext } from '../orchestration/queue.ts';
import { awaitsTurn, enterInTurn } from '../orchestration/turns.ts';

/**
 * Waits until the run is first in the queue. Starts the queue itself, because nothing else does if the workspace has become
 * free meanwhile.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const run = await enterInTurn(runId, 'Pending', attempt);
  if (awaitsTurn(run)) await startNext(run.workspaceId);
  await notify(run);
};
