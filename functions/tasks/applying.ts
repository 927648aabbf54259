import { announce } from '../store/runs/notices.ts';
import { enterState } from '../store/runs/run-states.ts';
import type { WaitingTask } from './waiting.ts';

/** Waits for the runner's report on the apply. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await announce(await enterState(runId, 'Applying', attempt));
};
