import { finishRun } from '#lifecycle/phases/finish.ts';
import { notify } from '#lifecycle/phases/notifications.ts';
import { checkIn, dueAttributes } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { getRun } from '#resources/runs/records.ts';
import type { Ending } from '#run/machine-states.ts';

/** Detail of EventBridge's "Step Functions Execution Status Change". */
interface StatusChange {
  detail: { name: string; status: string; error?: string | null; cause?: string | null };
}

/**
 * An execution ended without reaching the finisher: it was stopped in the console, failed, or timed out. The run ends
 * with that reason. Throws while its runner stops, so that EventBridge retries; if the retries run out first, the
 * sweep finishes the run.
 */
export const handler = async ({ detail }: StatusChange): Promise<void> => {
  const run = await getRun(detail.name);
  if (!run) return;
  const key = keys.run(run.id);
  await update(key, { set: checkIn(run.id, 60) });
  const ending: Ending = run.apply.status === 'pending' ? 'PlanErrored' : 'ApplyErrored';
  const ended = await finishRun(
    run.id,
    ending,
    { Error: 'ExecutionStopped', Cause: reason(detail) },
    { keepDue: true },
  );
  if (ended) await notify(ended);
  await update(key, { remove: dueAttributes });
};

const reason = ({ status, error, cause }: StatusChange['detail']): string => {
  const reason = [error, cause].filter(Boolean).join(': ');
  const ending = {
    ABORTED: 'was stopped by an operator',
    TIMED_OUT: 'exceeded the maximum duration of a run',
    FAILED: 'failed',
  }[status];
  return `Its execution ${ending ?? `ended as ${status}`}${reason ? ` (${reason})` : ''}.`;
};
