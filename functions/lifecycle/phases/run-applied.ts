import { queueTriggeredRuns } from '#lifecycle/creation/triggered-runs.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { dueAttributes } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { getRun } from '#resources/runs/records.ts';

/** Detail of EventBridge's "Step Functions Execution Status Change" with status SUCCEEDED. */
interface Succeeded {
  detail: { name: string };
}

/**
 * A run's execution succeeded, and other runs follow. A run with run triggers stays due until the triggered runs are
 * queued, and an environment until it is started again: if this event is lost, the sweep does it a minute later.
 */
export const handler = async ({ detail }: Succeeded): Promise<void> => {
  const run = await getRun(detail.name);
  if (run?.restarts) await invokeLater(environment.environmentSweepFunction, { runId: run.id });
  if (run?.status !== 'applied' || !run.dueAt) return;
  await queueTriggeredRuns(run);
  await update(keys.run(run.id), { remove: dueAttributes });
};
