import { getRun } from '../runs/records.ts';
import { dueAttributes } from '../store/due.ts';
import { keys } from '../store/keys.ts';
import { update } from '../store/table.ts';
import { queueTriggeredRuns } from './triggered-runs.ts';

/** Detail of EventBridge's "Step Functions Execution Status Change" with status SUCCEEDED. */
interface Succeeded {
  detail: { name: string };
}

/**
 * A run's execution is through. One whose apply sets off runs elsewhere is still due, and stays so until they are
 * queued: should this event be lost, the sweep does the same a minute later.
 */
export const handler = async ({ detail }: Succeeded): Promise<void> => {
  const run = await getRun(detail.name);
  if (run?.status !== 'applied' || !run.dueAt) return;
  await queueTriggeredRuns(run);
  await update(keys.run(run.id), { remove: dueAttributes });
};
