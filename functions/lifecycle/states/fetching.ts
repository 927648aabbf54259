import { awaitConfiguration } from '#lifecycle/creation/fetching.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';

/** Waits for the upload of the configuration. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await awaitConfiguration(await enterState(runId, 'Fetching', attempt));
};
