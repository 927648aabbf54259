import { getWorkspace } from '../workspaces/records.ts';
import { noteReleased } from './deliveries.ts';
import { forEach, type Handling, mayStart } from './handling.ts';
import { isHeldBy, release } from './merge-locks.ts';
import { handleWorkspace } from './newest-commit.ts';
import { pullRunsOf } from './pull-records.ts';

/** The end of what a pull request applied before its merge: it was merged, closed, or given up. */

/** Lets go of its workspaces, and runs the newest commit of what they follow. How many; may be repeated. */
export const releasePull = async (handling: Handling, number: number): Promise<number> => {
  const { delivery, repository, followers } = handling;
  const holder = { repository: repository.id, number };
  const ids = delivery.released ?? followers.filter((one) => isHeldBy(one, holder)).map(({ id }) => id);
  // First, so that a delivery that is cut off knows what it let go of.
  if (ids.length > 0 && !delivery.released) await noteReleased(delivery, ids);
  for (const id of ids) {
    await release(id, holder);
    const workspace = await getWorkspace(id);
    if (workspace) await handleWorkspace(handling, workspace, mayStart(workspace));
  }
  return ids.length;
};

/** Saved plans of a pull request that is over can not be applied any more. */
export const discardPlans = async ({ repository, doings }: Handling, number: number): Promise<void> => {
  await forEach(await pullRunsOf(repository.id, number), async ({ runId, saved }) => {
    if (saved) await doings.cancelOutdated(runId, `#${number} is closed`);
  });
};
