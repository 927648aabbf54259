import { notify } from '../orchestration/notifications.ts';
import { enterState } from '../orchestration/progress.ts';
import type { WaitingTask } from './waiting.ts';

/** Shows the plan and waits for a person. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await notify(await enterState(runId, 'NeedsConfirmation', attempt));
};
