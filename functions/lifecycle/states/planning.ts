import { notify } from '#lifecycle/phases/notifications.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';

/** Waits for the runner's report on the plan. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await notify(await enterState(runId, 'Planning', attempt));
};
