import { forceCancelCoolOffSeconds } from '../run/actions.ts';
import { healthAssessment } from '../run/run.ts';
import { updateRun } from '../runs/records.ts';
import { checkIn } from '../store/due.ts';
import { logError } from '../store/log.ts';
import { now } from '../store/time.ts';
import type { Workspace } from '../workspaces/records.ts';
import { deliver } from './execution.ts';

/**
 * Ends the assessment of health that goes on in a workspace, because a run comes first: it is about to change what is being
 * looked at. The run waits for nothing, whatever comes of this. Nothing happens in a workspace that is not being assessed.
 */
export const yieldToRun = async ({ assessing }: Pick<Workspace, 'assessing'>): Promise<void> => {
  if (!assessing) return;
  const forceAvailableAt = new Date(Date.now() + forceCancelCoolOffSeconds * 1000).toISOString();
  try {
    const canceled = await updateRun(assessing.runId, {
      set: { cancel: { by: healthAssessment, at: now(), forceAvailableAt }, ...checkIn(assessing.runId, 60) },
      condition: 'attribute_not_exists(cancel)',
    });
    if (canceled) await deliver(canceled);
  } catch (error) {
    logError('assessment not canceled', error, { run: assessing.runId });
  }
};
