import { notify } from '#lifecycle/phases/notifications.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { plainState } from '#run/machine-states.ts';

export interface EnterStateTask extends WaitingTask {
  /** Name of a state of the state machine. */
  state: string;
}

/** Enters a state that only waits, for a runner's report or for a user. */
export const handler = async ({ runId, state, ...attempt }: EnterStateTask): Promise<void> => {
  await notify(await enterState(runId, plainState(state), attempt));
};
