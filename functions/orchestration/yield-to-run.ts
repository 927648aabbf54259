import { forceCancelCoolOffSeconds } from '../run/actions.ts';
import { healthAssessment } from '../run/run.ts';
import { updateRun } from '../runs/records.ts';
import { dueIn } from '../store/due.ts';
import { logError } from '../store/log.ts';
import { now } from '../store/time.ts';
import type { Workspace } from '../workspaces/records.ts';
import { deliver } from './execution.ts';

/**
 * Ends the running health assessment of a workspace, because a run is about to change what it looks at. The run does
 * not wait for that. Does nothing in a workspace that is not being assessed.
 */
export const yieldToRun = async ({ assessing }: Pick<Workspace, 'assessing'>): Promise<void> => {
  if (!assessing) return;
  const forceAvailableAt = new Date(Date.now() + forceCancelCoolOffSeconds * 1000).toISOString();
  try {
    const canceled = await updateRun(assessing.runId, {
      set: { cancel: { by: healthAssessment, at: now(), forceAvailableAt }, ...dueIn(assessing.runId, 60) },
      condition: 'attribute_not_exists(cancel)',
    });
    if (canceled) await deliver(canceled);
  } catch (error) {
    logError('assessment not canceled', error, { run: assessing.runId });
  }
};
