import { notify } from '../orchestration/notifications.ts';
import { enterState } from '../orchestration/progress.ts';
import type { WaitingTask } from './waiting.ts';

/** Waits for the runner's report on the apply. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await notify(await enterState(runId, 'Applying', attempt));
};
