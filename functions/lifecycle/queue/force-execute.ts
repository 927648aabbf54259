import { decide } from '#lifecycle/decisions/decisions.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { getRun } from '#resources/runs/records.ts';
import { front as frontPlace } from '#resources/workspaces/queue-entries.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { isAccepted, runActions } from '#run/actions.ts';
import { takesQueue } from '#run/machine-states.ts';
import type { Run } from '#run/run.ts';
import { moveToFront } from './queue.ts';

export type ForceExecuteResult = 'accepted' | 'not pending' | 'not behind a run' | 'not discardable';

/**
 * Discards the current run, which waits for a decision, so that this pending run starts next. The pending run moves
 * to the front first, because the discard starts the first run in the queue. Idempotent for the same user.
 */
export const forceExecuteRun = async (run: Run, userId: string, comment?: string): Promise<ForceExecuteResult> => {
  const workspace = await getWorkspace(run.workspaceId);
  const holder = workspace?.lock?.kind === 'run' ? workspace.lock.runId : undefined;
  const moved = run.place === frontPlace && run.status === 'pending';
  if (moved && holder === run.id) return 'accepted';
  if (!isAccepted('force-execute', run) || !takesQueue(run)) return 'not pending';
  const front = holder && holder !== run.id ? await getRun(holder) : undefined;
  if (!front) return 'not behind a run';
  if (moved && front.decision?.action === 'discard' && front.decision.by === userId) return 'accepted';
  if (!isAccepted('discard', front)) return 'not discardable';
  if (!(await moveToFront(run))) return 'not pending';
  const discarded = await decide(front, 'discard', userId, `Discarded to execute ${run.id}.`);
  if (discarded === 'conflict') return 'not discardable';
  await recordRunEvent(run, runActions['force-execute'].event, userId, comment);
  return 'accepted';
};
