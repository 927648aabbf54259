import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { queryAll, update } from '#platform/store/table.ts';
import { getProject } from '#resources/projects/records.ts';
import { updateRun } from '#resources/runs/records.ts';
import { eachWorkspaceIn } from '#resources/workspaces/lists.ts';
import type { Workspace } from '#resources/workspaces/records.ts';

/**
 * Runs know from their creation whether somebody wants to know of them, from their workspace alone (decisions/0019). What
 * belongs to a project is carried to its workspaces, as execution modes are.
 */

const atOnce = 50;

/** Those that are under way learn it with the first configuration: the queue, and whoever waits with a saved plan. */
export const enableForOpenRuns = async ({ id, savedPlans }: Pick<Workspace, 'id' | 'savedPlans'>): Promise<void> => {
  const queued = await queryAll<{ runId: string }>({ pk: keys.workspace(id).pk, prefix: 'QUEUE#' });
  const runIds = [...new Set([...queued.map(({ runId }) => runId), ...(savedPlans ?? [])])];
  await inBatches(runIds, atOnce, (runId) => updateRun(runId, { set: { notifies: true } }));
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
 * Tells its workspaces whether the project has configurations: 1 write where that changes. It may be repeated, and does so
 * by itself when another request changed it meanwhile.
 */
export const carryNotifications = async (projectId: string): Promise<void> => {
  const notifiesNow = async () => Boolean((await getProject(projectId))?.notifications?.size);
  for (let carried: boolean | undefined; ; ) {
    const notifies = await notifiesNow();
    if (notifies === carried) return;
    for await (const workspaces of eachWorkspaceIn(projectId)) {
      const outdated = workspaces.filter(
        (candidate) => !candidate.managedBy && (candidate.projectNotifies ?? false) !== notifies,
      );
      await inBatches(outdated, atOnce, (workspace) => carryTo(workspace, projectId, notifies));
    }
    carried = notifies;
  }
};
