import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { queryAll, update } from '#platform/store/table.ts';
import { getProject } from '#resources/projects/records.ts';
import { updateRun } from '#resources/runs/records.ts';
import { eachWorkspaceIn } from '#resources/workspaces/lists.ts';
import type { Workspace } from '#resources/workspaces/records.ts';

/**
 * A run records at its creation whether it sends notifications, from its workspace alone (decisions/0019). Projects
 * copy the flag to their workspaces, as with execution modes.
 */

const atOnce = 50;

/** The first configuration sets the flag on open runs: queued ones, and those that wait with a saved plan. */
export const enableForOpenRuns = async ({ id, savedPlans }: Pick<Workspace, 'id' | 'savedPlans'>): Promise<void> => {
  const queued = await queryAll<{ runId: string }>({ pk: keys.workspace(id).pk, prefix: 'QUEUE#' });
  const runIds = [...new Set([...queued.map(({ runId }) => runId), ...(savedPlans ?? [])])];
  await inBatches(runIds, (runId) => updateRun(runId, { set: { notifies: true } }), atOnce);
};

const carryTo = async (workspace: Workspace, projectId: string, projectNotifies: boolean): Promise<void> => {
  const updated = await update<Workspace>(keys.workspace(workspace.id), {
    set: { projectNotifies },
    condition: 'projectId = :project AND attribute_not_exists(deletedAt)',
    values: { ':project': projectId },
  });
  if (updated && projectNotifies) await enableForOpenRuns(updated);
};

/**
 * Copies to the project's workspaces whether it has configurations: 1 write per workspace that changes. Can be
 * repeated, and repeats itself after a concurrent change.
 */
export const carryNotifications = async (projectId: string): Promise<void> => {
  const notifiesNow = async () => Boolean((await getProject(projectId))?.notifications?.size);
  for (let carried: boolean | undefined; ; ) {
    const notifies = await notifiesNow();
    if (notifies === carried) return;
    for await (const workspaces of eachWorkspaceIn(projectId)) {
      const outdated = workspaces.filter(
        (candidate) => !candidate.managedBy && Boolean(candidate.projectNotifies) !== notifies,
      );
      await inBatches(outdated, (workspace) => carryTo(workspace, projectId, notifies), atOnce);
    }
    carried = notifies;
  }
};
