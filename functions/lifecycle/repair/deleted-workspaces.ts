import { decide } from '#lifecycle/decisions/decisions.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { completeDeletion, getEndedWorkspace, openRunsOf } from '#removal/workspaces.ts';
import { isAccepted } from '#run/actions.ts';
import type { Run } from '#run/run.ts';

/**
 * Stops the unfinished runs of deleted workspaces in the background, so that the request that deletes a workspace
 * does not wait for them.
 */

const comment = 'The workspace was deleted.';

/** Users can no longer reach the run, so one that does not stop is force-canceled. */
const stop = async (run: Run, by: string): Promise<void> => {
  const actions = ['discard', 'cancel', 'force-cancel'] as const;
  const action = actions.find((action) => isAccepted(action, run, now()));
  if (action) await decide(run, action, by, comment);
};

/** Only DataRetention may delete the content of states and runs; it resumes after an interruption. */
const endForGood = async (workspaceId: string): Promise<void> => {
  await update(keys.workspace(workspaceId), { set: dueIn(workspaceId, 600), condition: 'attribute_exists(deletedAt)' });
  await invokeLater(environment.dataRetentionFunction, { due: [keys.workspace(workspaceId)] });
};

/**
 * Checks again in a minute while runs are unfinished. Idempotent.
 * @returns false if the workspace was not deleted
 */
export const completeWorkspaceEnd = async (workspaceId: string): Promise<boolean> => {
  const workspace = await getEndedWorkspace(workspaceId);
  if (!workspace) return false;
  // Newest first: a run that ends starts the next one in the queue.
  for (const run of await openRunsOf(workspace)) await stop(run, workspace.deletedBy ?? '');
  if (!(await completeDeletion(workspace))) {
    await updateExisting(keys.workspace(workspaceId), { set: dueIn(workspaceId, 60) });
    return true;
  }
  const { isEnding, recoverableUntil } = workspace;
  if (recoverableUntil && (isEnding || recoverableUntil <= now())) await endForGood(workspaceId);
  return true;
};
