import { notify } from '#lifecycle/phases/notifications.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';

/** Shows the plan and waits for a person. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await notify(await enterState(runId, 'NeedsConfirmation', attempt));
};
