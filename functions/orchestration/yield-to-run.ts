import { healthAssessment } from '../run/run.ts';
import { requestCancel } from '../runs/cancel.ts';
import { logError } from '../store/log.ts';
import type { Workspace } from '../workspaces/records.ts';
import { deliver } from './execution.ts';

/**
 * Ends the assessment of health that goes on in a workspace, because a run comes first: it is about to change what is being
 * looked at. The run waits for nothing, whatever comes of this. Nothing happens in a workspace that is not being assessed.
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
