import { notify } from '../orchestration/notifications.ts';
import { enterState, type WaitingTask } from '../orchestration/progress.ts';

/** Shows which soft-mandatory policies failed, and waits for a person to let them pass or to discard the run. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await notify(await enterState(runId, 'PolicyOverride', attempt));
};
