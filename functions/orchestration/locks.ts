import { covers } from '../run/state-identity.ts';
import { dueAttributes } from '../store/due.ts';
import { keys } from '../store/keys.ts';
import { update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { getWorkspace, type Workspace } from '../workspaces/records.ts';
import { startDue, startNext, takeFromEnded } from './queue.ts';

/**
 * Who may write state and start runs. Besides people, and the run that is current, a run that has ended holds its
 * workspace while what its apply recorded is not the workspace's state: the next run would make everything once more.
 * Anybody who may lock takes the workspace over from it, as `terraform state push` does, and lets go of the queue by
 * having brought the state in; without that, the run holds it again. Or an admin decides by force to go on without.
 */

/** Undefined when it is locked already. */
export const lockWorkspace = async (
  workspaceId: string,
  userId: string,
  reason: string,
): Promise<Workspace | undefined> => {
  const lock = { kind: 'user' as const, userId, reason, at: now() };
  const locked = await update<Workspace>(keys.workspace(workspaceId), {
    set: { lock },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt) AND attribute_not_exists(#lock)',
    names: { '#lock': 'lock' },
  });
  return locked ?? takeFromEnded(workspaceId, lock);
};

/** Retries when lock or state change between read and write. */
const tries = 4;

/**
 * Takes a user's lock away, only that of `userId` if one is given, or by force the one that waits for a state; starts
 * the queue when that leaves the workspace free. Undefined when there is no such lock; the lock of a run that goes on
 * goes with the run only.
 */
export const unlockWorkspace = async (workspaceId: string, userId?: string): Promise<Workspace | undefined> => {
  for (let i = 0; i < tries; i++) {
    const { lock, state } = (await getWorkspace(workspaceId)) ?? {};
    const mayGo = lock?.kind === 'user' ? !userId || lock.userId === userId : !!lock?.unsaved && !userId;
    if (!lock || !mayGo) return undefined;
    const waits = lock.kind === 'user' && lock.unsaved && !covers(state, lock.unsaved) ? lock.unsaved : undefined;
    const next = { kind: 'run' as const, runId: waits?.runId, at: now(), unsaved: waits };
    const workspace = await update<Workspace>(keys.workspace(workspaceId), {
      set: waits ? { lock: next } : startDue(workspaceId),
      remove: waits ? [] : ['lock'],
      condition: `#lock.at = :at AND #lock.kind = :kind AND ${state ? '#state.id = :state' : 'attribute_not_exists(#state)'}`,
      names: { '#lock': 'lock', '#state': 'state' },
      values: { ':at': lock.at, ':kind': lock.kind, ...(state ? { ':state': state.id } : {}) },
    });
    if (!workspace) continue;
    if (waits) return workspace;
    await startNext(workspaceId);
    await update(keys.workspace(workspaceId), { remove: dueAttributes, condition: 'attribute_exists(dueAt)' });
    return workspace;
  }
  return undefined;
};
