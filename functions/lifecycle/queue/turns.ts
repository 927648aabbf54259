import type { Attempt } from '../run/attempts.ts';
import { takesQueue, type WaitingState } from '../run/machine-states.ts';
import type { Run } from '../run/run.ts';
import { type Entering, enterState } from './progress.ts';
import { leaveTurn, takeTurn } from './queue.ts';

export const awaitsTurn = (run: Run): boolean => takesQueue(run) && !run.current && !run.cancel && !run.decision;

/**
 * Like {@link enterState}, but makes the run current if it is first in the queue of a free workspace. The write that stores the
 * token also marks the run as current.
 * @param look inspects the run before it is written; throws to leave it unchanged
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
