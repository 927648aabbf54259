import type { Attempt } from '../run/attempts.ts';
import { takesQueue, type WaitingState } from '../run/machine-states.ts';
import type { Run } from '../run/run.ts';
import { type Entering, enterState } from './progress.ts';
import { leaveTurn, takeTurn } from './queue.ts';

export const awaitsTurn = (run: Run): boolean => takesQueue(run) && !run.current && !run.cancel && !run.decision;

/**
 * As {@link enterState}; takes the run's turn if it is first in the queue of a free workspace. The write that keeps the
 * token also says that its turn has come.
 * @param look at the run before it is written; throws to leave it as it is
 */
export const enterInTurn = async (
  runId: string,
  state: WaitingState,
  attempt: Attempt,
  { look = async () => {}, ...entering }: Omit<Entering, 'recheck'> & { look?: (run: Run) => Promise<void> } = {},
): Promise<Run> => {
  let taken: Run | undefined;
  try {
    return await enterState(runId, state, attempt, {
      ...entering,
      recheck: async (stored) => {
        if (!taken && awaitsTurn(stored) && (await takeTurn(stored))) taken = stored;
        const run = taken ? { ...stored, current: true } : stored;
        await look(run);
        return run;
      },
    });
  } catch (error) {
    if (taken) await leaveTurn(taken);
    throw error;
  }
};
