import { type Entering, enterState } from '#lifecycle/phases/progress.ts';
import type { Attempt } from '#run/attempts.ts';
import { takesQueue, type WaitingState } from '#run/machine-states.ts';
import type { Run } from '#run/run.ts';
import { claim, release } from './queue.ts';

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
  let claimed: Run | undefined;
  try {
    return await enterState(runId, state, attempt, {
      ...entering,
      recheck: async (stored) => {
        if (!claimed && awaitsTurn(stored) && (await claim(stored))) claimed = stored;
        const run = claimed ? { ...stored, current: true } : stored;
        await look(run);
        return run;
      },
    });
  } catch (error) {
    if (claimed) await release(claimed);
    throw error;
  }
};
