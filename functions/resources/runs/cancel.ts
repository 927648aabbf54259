import { checkIn } from '#platform/store/due.ts';
import { now } from '#platform/store/time.ts';
import { forceCancelCoolOffSeconds } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { updateRun } from './records.ts';

/**
 * Notes that a hidden run (run/hidden.ts) is to end in order, for its runner's next beat; who may answer executions delivers it
 * at once, the sweep in a minute. Undefined when that was noted before, or when it is over. 1 write.
 */
export const requestCancel = (runId: string, by: string): Promise<Run | undefined> => {
  const forceAvailableAt = new Date(Date.now() + forceCancelCoolOffSeconds * 1000).toISOString();
  return updateRun(runId, {
    set: { cancel: { by, at: now(), forceAvailableAt }, ...checkIn(runId, 60) },
    condition: 'attribute_not_exists(cancel)',
  });
};
