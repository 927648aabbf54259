import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { joinQueue } from '#lifecycle/queue/queue.ts';

/** A confirmed saved plan goes to the end of its workspace's queue and waits for its turn. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const run = await enterState(runId, 'Confirmed', attempt);
  if (!run.current && !run.cancel && run.decision?.action === 'apply') await joinQueue(run);
};
