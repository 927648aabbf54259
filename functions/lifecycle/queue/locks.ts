import { type Due, dueIn } from '#platform/store/due.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { covers } from '#run/state-identity.ts';
import { startDue, startNext, takeFromEnded, unmark } from './queue.ts';

/**
 * A workspace is locked by a user, by its current run, or by an ended run whose applied state is not saved yet: the
 * next run would create those resources again. A user with permission to lock the workspace can take over the ended
 * run's lock, as `terraform state push` does, and unblocks the queue by uploading the state; unlocking without an
 * upload gives the lock back to the run. An admin can give up the state with a force-unlock.
 */

/** @returns undefined if the workspace is already locked */
export const lockWorkspace = async (
  workspaceId: string,
  userId: string,
  reason: string,
): Promise<Workspace | undefined> => {
  // Identifies the lock when the SDK retries a write whose response was lost.
  const nonce = newId('lock');
  const lock = { kind: 'user' as const, userId, reason, at: now(), nonce };
  const locked = await updateRecord<Workspace>(keys.workspace(workspaceId), {
    set: { lock },
    condition: 'attribute_not_exists(#lock) OR #lock.nonce = :nonce',
    names: { '#lock': 'lock' },
    values: { ':nonce': nonce },
  });
  return locked ?? takeFromEnded(workspaceId, lock);
};

/** Maximum attempts, because lock or state can change between read and write. */
const tries = 4;

/**
 * Removes a user's lock (with `userId`, only that user's) or, without `userId`, the lock of an ended run with an
 * unsaved state. Starts the queue if the workspace is free afterwards. The lock of a running run cannot be removed.
 * @returns undefined if there is no such lock
 */
export const unlockWorkspace = async (workspaceId: string, userId?: string): Promise<Workspace | undefined> => {
  for (let i = 0; i < tries; i++) {
    const { lock, state } = (await getWorkspace(workspaceId)) ?? {};
    const isRemovable = lock?.kind === 'user' ? !userId || lock.userId === userId : !!lock?.unsaved && !userId;
    if (!lock || !isRemovable) return undefined;
    const unsaved = lock.kind === 'user' && lock.unsaved && !covers(state, lock.unsaved) ? lock.unsaved : undefined;
    const next = { kind: 'run' as const, runId: unsaved?.runId, at: now(), unsaved };
    const workspace = await update<Workspace & Due>(keys.workspace(workspaceId), {
      set: unsaved ? { lock: next } : startDue(workspaceId),
      remove: unsaved ? [] : ['lock'],
      condition: `#lock.at = :at AND #lock.kind = :kind AND ${state ? '#state.id = :state' : 'attribute_not_exists(#state)'}`,
      names: { '#lock': 'lock', '#state': 'state' },
      values: { ':at': lock.at, ':kind': lock.kind, ...(state ? { ':state': state.id } : {}) },
    });
    if (!workspace) continue;
    if (unsaved) return workspace;
    await startNext(workspaceId);
    await unmark(workspaceId, workspace);
    return workspace;
  }
  return undefined;
};

/**
 * Removes the lock of an ended run whose state has been saved; the sweep starts the queue. Keeps the lock of a user
 * who has taken it over. Idempotent.
 */
export const releaseUnsaved = async (workspaceId: string, runId: string): Promise<void> => {
  await update(keys.workspace(workspaceId), {
    set: dueIn(workspaceId, 0),
    remove: ['lock'],
    condition: '#lock.kind = :run AND #lock.runId = :runId AND attribute_exists(#lock.unsaved)',
    names: { '#lock': 'lock' },
    values: { ':run': 'run', ':runId': runId },
  });
};
