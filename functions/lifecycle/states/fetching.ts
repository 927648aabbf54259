import { awaitConfiguration } from '#lifecycle/creation/fetching.ts';
import { notify } from '#lifecycle/phases/notifications.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import type { Run } from '#run/run.ts';

/** The run's first state sends the notifications of a new run. */
const look = async (before: Run): Promise<void> => {
  if (!before.wait) await notify(before);
};

/** Waits for the upload of the configuration. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await awaitConfiguration(await enterState(runId, 'Fetching', attempt, { look }));
};
