import { checkIn } from '#platform/store/due.ts';
import { type Actor, forceCancelCoolOffSeconds, runActions } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { updateRun } from './records.ts';

/** A user who acts now. */
export const actor = (by: string): Actor => {
  const at = Date.now();
  const coolOffEnd = new Date(at + forceCancelCoolOffSeconds * 1000).toISOString();
  return { by, at: new Date(at).toISOString(), coolOffEnd };
};

/**
 * Requests an orderly end of a hidden run (run/hidden.ts). Its runner sees the request with its next heartbeat. A
 * caller with the right to resume executions delivers it at once; otherwise the sweep does within a minute. Undefined
 * when a cancel was already requested, or the run has ended. 1 write.
 */
export const requestCancel = (runId: string, by: string): Promise<Run | undefined> => {
  const { set } = runActions.cancel.change(actor(by));
  return updateRun(runId, { set: { ...set, ...checkIn(runId, 60) }, condition: 'attribute_not_exists(cancel)' });
};
