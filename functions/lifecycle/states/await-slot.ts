import { notify } from '#lifecycle/phases/notifications.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { awaitSlot, returnUnused, takeSlot } from '#lifecycle/slots/slots.ts';
import { isStopped } from '#run/lifecycle.ts';
import type { Run } from '#run/run.ts';
import { awaitedSlot, type SlotState, slotStates } from '#run/slots.ts';

export interface AwaitSlotTask extends WaitingTask {
  /** Name of a state of the state machine. */
  state: SlotState;
}

/**
 * Waits until the phase may start a runner, where the operator limits their number.
 *
 * A free slot is taken before the run is written, so that one write contains both.
 */
export const handler = async ({ runId, state, ...attempt }: AwaitSlotTask): Promise<void> => {
  const phase = state === slotStates.plan ? 'plan' : 'apply';
  let isTaken = false;
  const look = async (before: Run): Promise<void> => {
    // The run's first state sends the notifications of a new run.
    if (!before.wait) await notify(before);
    isTaken ||= !isStopped(before) && (await takeSlot(before, phase));
  };
  const extra = () => (isTaken ? { slot: phase } : {});
  const run = await enterState(runId, state, attempt, { look, extra }).catch(async (error) => {
    // The run may have ended meanwhile.
    if (isTaken) await returnUnused(runId, phase);
    throw error;
  });
  if (isTaken && run.slot !== phase) await returnUnused(runId, phase);
  if (awaitedSlot(run) === phase) await awaitSlot(run, phase);
};
