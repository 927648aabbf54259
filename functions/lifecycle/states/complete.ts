import { finishRun } from '#lifecycle/phases/finish.ts';
import { notify } from '#lifecycle/phases/notifications.ts';
import { logError } from '#platform/store/log.ts';
import { type CaughtError, isPlatformFault } from '#run/ending.ts';
import { type Ending, startsRuns } from '#run/machine-states.ts';

export interface CompleteTask {
  /** Name of the machine's final state. */
  ending: Ending;
  run: {
    runId: string;
    error?: CaughtError;
    missedHeartbeat?: CaughtError;
  };
}

/**
 * Finishes a run: writes the final status, releases the lock, starts the next run.
 * @returns `next`: `startsRuns` if the end of the execution has to trigger run-applied.ts
 */
export const handler = async ({ ending, run }: CompleteTask): Promise<{ next: typeof startsRuns | 'Nothing' }> => {
  // Step Functions reports a missed heartbeat as States.Timeout too; the state machine's catcher distinguishes them.
  const error = run.missedHeartbeat ? { Error: 'States.HeartbeatTimeout' } : run.error;
  // The execution itself succeeds. An alarm counts these words (infra/stack/operations.ts).
  if (isPlatformFault(ending, error))
    logError('platform fault', error?.Error, { runId: run.runId, cause: error?.Cause?.slice(0, 1000) });
  const ended = await finishRun(run.runId, ending, error);
  if (ended) await notify(ended);
  // A run with triggers stays due until the triggered runs are queued.
  const isFollowed = ended?.restarts || (ending === 'Applied' && ended?.dueAt);
  return { next: isFollowed ? startsRuns : 'Nothing' };
};
