import { finishRun } from '#lifecycle/phases/finish.ts';
import { notify } from '#lifecycle/phases/notifications.ts';
import { getRun } from '#resources/runs/records.ts';
import type { TaskStage } from '#run/check-record.ts';
import { detourBefore } from '#run/checks.ts';
import type { CaughtError } from '#run/ending.ts';
import { type Ending, startsRuns } from '#run/machine-states.ts';
import { isFinal } from '#run/status.ts';

export interface CompleteTask {
  /** Name of the machine's final state. */
  ending: Ending;
  run: {
    runId: string;
    error?: CaughtError;
    missedHeartbeat?: CaughtError;
    /** Task results by stage, for a run with run tasks. */
    taskResults?: Partial<Record<TaskStage, string[]>>;
    /** The post-apply stage has ended. */
    postApply?: unknown;
  };
}

/** Post-apply run tasks come first: the machine catches this, runs them and comes back. */
export class PostApplyTasks extends Error {
  override name = 'PostApplyTasks';
}

/**
 * Finishes a run: writes the final status, releases the lock, starts the next run.
 * @returns `next`: whether the end of the execution is an event for run-applied.ts, which costs nothing otherwise
 */
export const handler = async ({ ending, run }: CompleteTask): Promise<{ next: typeof startsRuns | 'Nothing' }> => {
  if (ending === 'Applied' && run.taskResults?.post_apply && !run.postApply) await postApplyFirst(run.runId);
  // Step Functions reports a missed heartbeat as States.Timeout too; the catcher tells them apart.
  const error = run.missedHeartbeat ? { Error: 'States.HeartbeatTimeout' } : run.error;
  const ended = await finishRun(run.runId, ending, error);
  if (ended) await notify(ended);
  // The run stays due until the triggered runs are queued.
  return { next: ending === 'Applied' && ended?.dueAt ? startsRuns : 'Nothing' };
};

const postApplyFirst = async (runId: string): Promise<void> => {
  const run = await getRun(runId);
  if (run && !isFinal(run.status) && detourBefore('Applied', run)) throw new PostApplyTasks('run tasks come first');
};
