import type { WaitingTask } from '#lifecycle/phases/progress.ts';
import type { SlotState } from '#run/slots.ts';
import { handler as awaitSlot } from './await-slot.ts';
import { handler as awaitPlace } from './pending.ts';

export interface AwaitTurnTask extends WaitingTask {
  /** Name of a state of the state machine. */
  state: 'Pending' | SlotState;
}

/** Waits for a turn: in the queue of the workspace, or for a slot. The functions of both have the same rights. */
export const handler = ({ state, ...task }: AwaitTurnTask): Promise<void> =>
  state === 'Pending' ? awaitPlace(task) : awaitSlot({ state, ...task });
