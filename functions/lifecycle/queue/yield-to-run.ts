import { healthAssessment } from '../run/run.ts';
import { requestCancel } from '../runs/cancel.ts';
import { logError } from '../store/log.ts';
import type { Workspace } from '../workspaces/records.ts';
import { deliver } from './execution.ts';

/**
 * Ends the running health assessment of a workspace, because a run is about to change the resources. The run does
 * not wait for that. Does nothing in a workspace that is not being assessed.
 */
export const yieldToRun = async ({ assessing }: Pick<Workspace, 'assessing'>): Promise<void> => {
  if (!assessing) return;
  try {
    const canceled = await requestCancel(assessing.runId, healthAssessment);
    if (canceled) await deliver(canceled);
  } catch (error) {
    logError('assessment not canceled', error, { run: assessing.runId });
  }
};
