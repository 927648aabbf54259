import { logError } from '#platform/store/log.ts';
import { requestCancel } from '#resources/runs/cancel.ts';
import { deliver } from '#resources/runs/execution.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { healthAssessment } from '#run/run.ts';

/**
 * Cancels the workspace's running health assessment, because a run is about to change the resources. Does not wait
 * for the assessment to end.
 */
export const yieldToRun = async ({ assessing }: Pick<Workspace, 'assessing'>): Promise<void> => {
  if (!assessing) return;
  try {
    const canceled = await requestCancel(assessing.runId, healthAssessment);
    if (canceled) await deliver(canceled);
  } catch (error) {
    logError('assessment not canceled', error, { runId: assessing.runId });
  }
};
