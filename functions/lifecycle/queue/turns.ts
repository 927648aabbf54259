import { deliver } from '#resources/runs/execution.ts';
import { updateRun } from '#resources/runs/records.ts';
import { takesQueue } from '#run/machine-states.ts';
import type { Run } from '#run/run.ts';
import { claim, release } from './queue.ts';

export const awaitsTurn = (run: Run): boolean => takesQueue(run) && !run.current && !run.cancel && !run.decision;

/**
 * Makes a new run current if it is first in the queue of a free workspace. A run that does not get its turn here waits for it in
 * Pending, which starts the queue itself. May be repeated, also while the run waits there. 1 read; 2 writes for the turn.
 * @returns the run, current or not
 */
export const claimTurn = async (run: Run): Promise<Run> => {
  if (!awaitsTurn(run) || !(await claim(run))) return run;
  const current = await updateRun(run.id, { set: { current: true } });
  if (!current) {
    // The run ended in the meantime.
    await release(run);
    return run;
  }
  await deliver(current);
  return current;
};
