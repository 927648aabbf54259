import { checkIn } from '#platform/store/due.ts';
import { now } from '#platform/store/time.ts';
import { forceCancelCoolOffSeconds } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { updateRun } from './records.ts';

/**
 * Requests an orderly end of a hidden run (run/hidden.ts). Its runner sees the request with its next heartbeat. A
 * caller with the right to resume executions delivers it at once; otherwise the sweep does within a minute. Undefined
 * when a cancel was already requested, or the run has ended. 1 write.
 */
export const requestCancel = (runId: string, by: string): Promise<Run | undefined> => {
  const forceAvailableAt = new Date(Date.now() + forceCancelCoolOffSeconds * 1000).toISOString();
  return updateRun(runId, {
    set: { cancel: { by, at: now(), forceAvailableAt }, ...checkIn(runId, 60) },
    condition: 'attribute_not_exists(cancel)',
  });
};
