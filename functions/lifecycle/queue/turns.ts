import { deliver } from '#resources/runs/execution.ts';
import { updateRun } from '#resources/runs/records.ts';
import { takesQueue } from '#run/machine-states.ts';
import type { Run } from '#run/run.ts';
import { claim, release } from './queue.ts';

export const awaitsTurn = (run: Run): boolean => takesQueue(run) && !run.current && !run.cancel && !run.decision;

/**
 * Makes a new run current if it is first in the queue of a free workspace. Other runs wait in the state Pending, which
 * starts the next run of a free workspace itself. Idempotent, also in Pending. 1 read, and 2 writes if the run becomes
 * current.
 * @returns the run, current or not
 */
export const claimTurn = async (run: Run): Promise<Run> => {
  if (!awaitsTurn(run) || !(await claim(run))) return run;
  const current = await updateRun(run.id, { set: { current: true } });
  if (!current) {
    // The run ended meanwhile.
    await release(run);
    return run;
  }
  await deliver(current);
  return current;
};
