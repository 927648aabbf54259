import { getWorkspace } from '#resources/workspaces/records.ts';
import { noteReleased } from './deliveries.ts';
import { forEach, type Handling, mayStart } from './handling.ts';
import { isHeldBy, release } from './merge-locks.ts';
import { handleWorkspace } from './newest-commit.ts';
import { pullRunsOf } from './pull-records.ts';

/** Ends the locks of a pull request that was applied before its merge, once it is merged, closed or released. */

/**
 * Releases its workspaces, and runs the newest commit of their followed branch. Returns their number; can be
 * repeated.
 */
export const releasePull = async (handling: Handling, number: number): Promise<number> => {
  const { delivery, repository, followers } = handling;
  const holder = { repository: repository.id, number };
  const ids = delivery.released ?? followers.filter((one) => isHeldBy(one, holder)).map(({ id }) => id);
  // Stored first, so that a repeated delivery releases the same workspaces.
  if (ids.length > 0 && !delivery.released) await noteReleased(delivery, ids);
  for (const id of ids) {
    await release(id, holder);
    const workspace = await getWorkspace(id);
    if (workspace) await handleWorkspace(handling, workspace, mayStart(workspace));
  }
  return ids.length;
};

/** Discards the saved plans of a closed pull request. */
export const discardPlans = async ({ repository, orchestration }: Handling, number: number): Promise<void> => {
  await forEach(await pullRunsOf(repository.id, number), async ({ runId, saved }) => {
    if (saved) await orchestration.cancelOutdated(runId, `#${number} is closed`);
  });
};
