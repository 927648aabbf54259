import { awaitConfiguration } from '../store/fetching.ts';
import { enterState } from '../store/run-states.ts';
import type { WaitingTask } from './waiting.ts';

/** Waits for the upload of the configuration. */
export const handler = async ({ runId, token }: WaitingTask): Promise<void> => {
  await awaitConfiguration(await enterState(runId, 'Fetching', token));
};
