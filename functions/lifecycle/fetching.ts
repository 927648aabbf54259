import { awaitConfiguration } from '../orchestration/fetching.ts';
import { enterState } from '../orchestration/progress.ts';
import type { WaitingTask } from './waiting.ts';

/** Waits for the upload of the configuration. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await awaitConfiguration(await enterState(runId, 'Fetching', attempt));
};
