import { notify } from '../orchestration/notifications.ts';
import { enterState } from '../orchestration/progress.ts';
import { leaveTurn, startNext, takeTurn } from '../orchestration/queue.ts';
import { takesQueue } from '../run/machine-states.ts';
import type { Run } from '../run/run.ts';
import type { WaitingTask } from './waiting.ts';

const awaitsTurn = (run: Run): boolean => takesQueue(run) && !run.current && !run.cancel && !run.decision;

/**
 * Waits until the run is first in the queue. Starts the queue itself, because nothing else does on a free workspace: then the
 * write that keeps the token also says that the run's turn has come.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  let taken: Run | undefined;
  const run = await enterState(runId, 'Pending', attempt, {
    recheck: async (before) => {
      if (!taken && awaitsTurn(before) && (await takeTurn(before))) taken = before;
      return before;
    },
    extra: () => (taken ? { current: true } : {}),
  }).catch(async (error) => {
    if (taken) await leaveTurn(taken);
    throw error;
  });
  if (awaitsTurn(run)) await startNext(run.workspaceId);
  await notify(run);
};
