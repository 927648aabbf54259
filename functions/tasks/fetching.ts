import { awaitConfiguration } from '../store/runs/fetching.ts';
import { enterState } from '../store/runs/run-states.ts';
import type { WaitingTask } from './waiting.ts';

/** Waits for the upload of the configuration. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await awaitConfiguration(await enterState(runId, 'Fetching', attempt));
};
