import { announce } from '../store/runs/notices.ts';
import { enterState } from '../store/runs/run-states.ts';
import type { WaitingTask } from './waiting.ts';

/** Shows the plan and waits for a person. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await announce(await enterState(runId, 'NeedsConfirmation', attempt));
};
