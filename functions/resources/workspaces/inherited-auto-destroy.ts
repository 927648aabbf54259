import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Project } from '#resources/projects/records.ts';
import { startAutoDestroyTimer } from './auto-destroy.ts';
import { eachWorkspaceIn } from './lists.ts';
import type { Workspace } from './records.ts';

/** Copies a project's auto-destroy duration to the workspaces that inherit it, as with execution modes. */

/** Workspaces of an environment end with the environment. */
const follows = ({ inheritsAutoDestroy = true, managedBy }: Workspace): boolean => inheritsAutoDestroy && !managedBy;

/** 2 writes per workspace that changes. Repeating an interrupted copy completes it. */
export const inheritAutoDestroy = async ({ id, autoDestroyActivityDuration = null }: Project): Promise<void> => {
  for await (const workspaces of eachWorkspaceIn(id)) {
    const outdated = workspaces.filter(
      (candidate) =>
        follows(candidate) && (candidate.autoDestroyActivityDuration ?? null) !== autoDestroyActivityDuration,
    );
    await inBatches(outdated, (workspace) => inherit(workspace.id, autoDestroyActivityDuration));
  }
};

const inherit = async (workspaceId: string, autoDestroyActivityDuration: string | null): Promise<void> => {
  await startAutoDestroyTimer(workspaceId, { autoDestroyActivityDuration });
  await update(keys.workspace(workspaceId), {
    set: { autoDestroyActivityDuration, autoDestroyStatus: null, updatedAt: now() },
    condition:
      '(attribute_not_exists(inheritsAutoDestroy) OR inheritsAutoDestroy = :true) AND attribute_not_exists(deletedAt)',
    values: { ':true': true },
  });
};
