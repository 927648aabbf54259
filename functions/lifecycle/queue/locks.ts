import { type Due, dueIn } from '#platform/store/due.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { covers } from '#run/state-identity.ts';
import { startDue, startNext, takeFromEnded, unmark } from './queue.ts';

/**
 * Who may write state and start runs. Besides users and the current run, an ended run holds its workspace's lock
 * while the state of its apply is not saved: the next run would create everything again. Whoever may lock the
 * workspace can take that lock over, as `terraform state push` does, and unlocks the queue by uploading the state;
 * unlocking without an upload gives the lock back to the run. An admin can give the state up with a force-unlock.
 */

/** Undefined when it is locked already. */
export const lockWorkspace = async (
  workspaceId: string,
  userId: string,
  reason: string,
): Promise<Workspace | undefined> => {
  // Identifies the lock when the SDK retries a write whose response was lost.
  const nonce = newId('lock');
  const lock = { kind: 'user' as const, userId, reason, at: now(), nonce };
  const locked = await update<Workspace>(keys.workspace(workspaceId), {
    set: { lock },
    condition:
      'attribute_exists(pk) AND attribute_not_exists(deletedAt) AND (attribute_not_exists(#lock) OR #lock.nonce = :nonce)',
    names: { '#lock': 'lock' },
    values: { ':nonce': nonce },
  });
  return locked ?? takeFromEnded(workspaceId, lock);
};

/** Retries when lock or state change between read and write. */
const tries = 4;

/**
 * Removes a user's lock (only that of `userId` if one is given), or by force the lock of a run with an unsaved state.
 * Starts the queue when the workspace is free then. Undefined when there is no such lock; the lock of a running run
 * cannot be removed.
 */
export const unlockWorkspace = async (workspaceId: string, userId?: string): Promise<Workspace | undefined> => {
  for (let i = 0; i < tries; i++) {
    const { lock, state } = (await getWorkspace(workspaceId)) ?? {};
    const mayGo = lock?.kind === 'user' ? !userId || lock.userId === userId : !!lock?.unsaved && !userId;
    if (!lock || !mayGo) return undefined;
    const waits = lock.kind === 'user' && lock.unsaved && !covers(state, lock.unsaved) ? lock.unsaved : undefined;
    const next = { kind: 'run' as const, runId: waits?.runId, at: now(), unsaved: waits };
    const workspace = await update<Workspace & Due>(keys.workspace(workspaceId), {
      set: waits ? { lock: next } : startDue(workspaceId),
      remove: waits ? [] : ['lock'],
      condition: `#lock.at = :at AND #lock.kind = :kind AND ${state ? '#state.id = :state' : 'attribute_not_exists(#state)'}`,
      names: { '#lock': 'lock', '#state': 'state' },
      values: { ':at': lock.at, ':kind': lock.kind, ...(state ? { ':state': state.id } : {}) },
    });
    if (!workspace) continue;
    if (waits) return workspace;
    await startNext(workspaceId);
    await unmark(workspaceId, workspace);
    return workspace;
  }
  return undefined;
};

/**
 * Removes the lock of an ended run whose state has been taken in; the sweep starts the queue. May be repeated. A user who
 * has taken the lock over keeps it.
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
