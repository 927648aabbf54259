import { notify } from '#lifecycle/phases/notifications.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';

/** Shows the failed mandatory policies, and waits for a person to override them or discard the run. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await notify(await enterState(runId, 'PostPlanAwaitingDecision', attempt));
};
