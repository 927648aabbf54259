import { type Due, dueAttributes, dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { get, put, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import type { WorkspaceLock } from '#resources/workspaces/lock-record.ts';
import { creationSeconds, firstEntries, front, holds, type QueueEntry } from '#resources/workspaces/queue-entries.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import type { UnsavedState } from '#run/state-identity.ts';
import { isFinal } from '#run/status.ts';
import { dropPlace, standingOf, takePlace } from './places.ts';

/**
 * Each workspace's queue: first in, first out, one run at a time. Entries are in the workspace's partition, sorted by
 * place (places.ts); the workspace's `lock` names the current run. Every operation reads and writes a few items
 * regardless of the queue's length, is idempotent, and may be interrupted between any two calls:
 *
 * - A run becomes current by one conditional write of the lock; then its own item is marked current.
 * - A run releases the lock after its final status was written. So a function that locks the workspace for a run, and
 *   then reads that the run has not ended, knows that the end of the run will release the lock.
 */

/**
 * Makes the first queued run current if the workspace is free, and resumes its execution.
 * @returns whether a run started
 */
export const startNext = async (workspaceId: string): Promise<boolean> => {
  for (;;) {
    const [first] = await firstEntries(workspaceId, 1);
    if (!first) return false;
    const { runId, pk, sk } = first;
    const standing = await standingOf(first);
    if (standing === 'awaited') {
      await startLater(workspaceId, first);
      return false;
    }
    if (standing === 'void') {
      await remove({ pk, sk });
      continue;
    }
    if (await lockFor(workspaceId, runId)) {
      if (await resume(workspaceId, runId)) return true;
      // It has ended, which the eventually consistent read of its standing did not show.
      await remove({ pk, sk });
      continue;
    }
    const holder = await holderOf(workspaceId);
    if (holder.is === 'busy') return false;
    // Another run was moved to the front after this one was given the lock.
    if (holder.is === 'waiting' && (await resume(workspaceId, holder.runId))) return true;
    if (holder.is === 'ended' && !(await releaseLock(workspaceId, holder.run.id, holder.run))) return false;
  }
};

/** Marks the run that has the lock current, and resumes its execution. @returns false if it has ended: the lock is free */
const resume = async (workspaceId: string, runId: string): Promise<boolean> => {
  const run = await updateRun(runId, { set: { current: true } });
  if (run) await deliver(run);
  else await releaseLock(workspaceId, runId, await getRun(runId));
  return run !== undefined;
};

/**
 * {@link startNext} for callers that have not released a lock. While another run is in progress, that run will start
 * the next one when it ends: 2 reads, and 1 write if its lock was uncontended.
 */
export const startIfFree = async (workspaceId: string): Promise<boolean> =>
  (await holderOf(workspaceId)).is !== 'busy' && (await startNext(workspaceId));

/** Schedules the sweep to start the queue after the time limit for creating the first run. 1 write. */
const startLater = async (workspaceId: string, { at }: QueueEntry): Promise<void> => {
  const seconds = creationSeconds + 1 + (Date.parse(at) - Date.now()) / 1000;
  await updateRecord(keys.workspace(workspaceId), {
    set: dueIn(workspaceId, seconds),
  });
};

/** Due time that callers set before they release a lock: the sweep starts the queue if the caller is interrupted. */
export const startDue = (workspaceId: string) => dueIn(workspaceId, 60);

/** Removes the due time after the queue was started, unless it was renewed meanwhile. */
export const unmark = async (workspaceId: string, { dueAt }: Due): Promise<void> => {
  await update(keys.workspace(workspaceId), {
    remove: dueAttributes,
    condition: 'dueAt = :mark',
    values: { ':mark': dueAt },
  });
};

/**
 * State of the workspace's lock. `free`: not locked. `ended`: locked by an ended run, because the function that
 * finished it may have stopped before releasing the lock. `waiting`: locked for a run that was made current but may
 * not have been resumed. `busy`: locked by a user, or by a run in progress, which starts the next run when it ends.
 */
type Holder = { is: 'free' | 'busy' } | { is: 'waiting'; runId: string } | { is: 'ended'; run: Run };

/**
 * Clears the uncontended mark of the run that holds the lock, so that it starts the next run when it ends. 2 reads,
 * and 1 write if it had the mark.
 */
const holderOf = async (workspaceId: string): Promise<Holder> => {
  const workspace = await get<Workspace>(keys.workspace(workspaceId));
  // A deleted workspace starts no runs.
  if (!workspace) return { is: 'busy' };
  const { lock } = workspace;
  if (!lock) return { is: 'free' };
  if (lock.kind !== 'run') return { is: 'busy' };
  if (lock.uncontended && !(await clearUncontended(workspaceId, lock.runId))) return { is: 'free' };
  const run = await getRun(lock.runId);
  if (run && isFinal(run.status)) return { is: 'ended', run };
  const isResumed = run?.current && run.wait?.state !== 'Pending' && run.wait?.state !== 'Confirmed';
  return isResumed ? { is: 'busy' } : { is: 'waiting', runId: lock.runId };
};

/**
 * Locks a free workspace for a run that is first in its queue. The caller then marks the run current; if that fails,
 * it calls {@link release}.
 */
export const claim = async (run: Run): Promise<boolean> => {
  const { id, workspaceId } = run;
  const [first, second] = await firstEntries(workspaceId, 2);
  if (first?.runId !== id || !holds(run, first)) return false;
  const claimed = second ? undefined : await claimUncontended(workspaceId, id);
  return (claimed ?? (await lockFor(workspaceId, id))) !== undefined;
};

/** Releases the claim of a run that could not be marked current, unless the end of the run will release it. */
export const release = async ({ id, workspaceId }: Run): Promise<void> => {
  const run = await getRun(id);
  if (run && !isFinal(run.status)) return;
  if (run?.place !== undefined) await dropPlace(run, run.place);
  await releaseLock(workspaceId, id, run);
  await startNext(workspaceId);
};

const lockFor = (workspaceId: string, runId: string): Promise<Workspace | undefined> =>
  updateExisting<Workspace>(keys.workspace(workspaceId), {
    set: { lock: { kind: 'run', runId, at: now() } },
    condition: 'attribute_not_exists(#lock) OR #lock.runId = :runId',
    names: { '#lock': 'lock' },
    values: { ':runId': runId },
  });

/**
 * Locks a free workspace in which no other run is queued: when this run ends, it need not read the queue. A later run
 * clears the mark before it waits ({@link startIfFree}). The mark is part of the lock, so the release sees whether it
 * was cleared.
 */
const claimUncontended = (workspaceId: string, runId: string): Promise<Workspace | undefined> =>
  updateExisting<Workspace>(keys.workspace(workspaceId), {
    set: { lock: { kind: 'run', runId, at: now(), uncontended: true } },
    condition: 'attribute_not_exists(#lock)',
    names: { '#lock': 'lock' },
  });

const clearUncontended = (workspaceId: string, runId: string): Promise<Workspace | undefined> =>
  update<Workspace>(keys.workspace(workspaceId), {
    remove: ['lock.uncontended'],
    condition: '#lock.runId = :runId',
    names: { '#lock': 'lock' },
    values: { ':runId': runId },
  });

/**
 * Releases the run's lock, or keeps it while the run's state is not saved.
 * @returns the workspace as it was before; undefined if the run does not hold the lock
 */
const releaseLock = (workspaceId: string, runId: string, run: Run | undefined): Promise<Workspace | undefined> => {
  const unsaved = unsavedOf(run);
  return update<Workspace>(keys.workspace(workspaceId), {
    set: {
      latestRunId: runId,
      ...(unsaved ? { lock: { kind: 'run', runId, at: now(), unsaved } } : {}),
    },
    remove: unsaved ? [] : ['lock'],
    condition: '#lock.runId = :runId AND attribute_not_exists(#lock.unsaved)',
    names: { '#lock': 'lock' },
    values: { ':runId': runId },
    returnsOld: true,
  });
};

const unsavedOf = (run: Run | undefined): UnsavedState | undefined => {
  if (!run?.unsaved) return undefined;
  const { runId, serial, lineage, md5, lost } = run.unsaved;
  return { runId, serial, lineage, ...(md5 === undefined ? {} : { md5 }), ...(lost ? { lost } : {}) };
};

/** Removes an ended run from the queue and starts the next one. Call it after the final status was written. */
export const leaveQueue = async (run: Run): Promise<void> => {
  const { id, workspaceId, organization, createdAt, place } = run;
  await Promise.all([
    remove(keys.openRun(organization, createdAt, id)),
    place === undefined ? undefined : dropPlace(run, place),
  ]);
  const before = await releaseLock(workspaceId, id, run);
  if (before?.lock?.kind === 'run' && before.lock.uncontended) return;
  if (before) await startNext(workspaceId);
  else await startIfFree(workspaceId);
};

/** Queues a confirmed saved plan behind all existing runs, and starts it if it is first. Idempotent. */
export const joinQueue = async (run: Run): Promise<void> => {
  if (run.place === undefined) await placeExisting(run);
  await startNext(run.workspaceId);
};

/** If concurrent attempts place the run, the first place written to the run's item counts. */
const placeExisting = async (run: Run): Promise<void> => {
  const { place } = await takePlace(run, {}, true);
  const placed = await updateRun(run.id, { set: { place }, condition: 'attribute_not_exists(place)' });
  if (!placed && (await getRun(run.id))?.place !== place) await dropPlace(run, place);
};

/**
 * Moves a pending run to the front of the queue. Both entries exist until the run's item has the new place, so the
 * run is always queued.
 * @returns false if the run is no longer pending
 */
export const moveToFront = async (run: Run): Promise<boolean> => {
  const { id, workspaceId, place } = run;
  await put({ ...keys.queued(workspaceId, front, id), runId: id, place: front, at: now() });
  const moved = await updateRun(id, {
    set: { place: front },
    condition: 'status = :pending AND attribute_not_exists(current)',
    values: { ':pending': 'pending' },
  });
  if (!moved && (await getRun(id))?.place !== front) {
    await dropPlace(run, front);
    return false;
  }
  if (place !== undefined && place !== front) await dropPlace(run, place);
  return true;
};

/**
 * Replaces the lock of an ended run, which is releasing it or has an unsaved state, with a user's lock, so that users
 * can lock a workspace as soon as its run is final.
 * @returns undefined if no such run holds the lock
 */
export const takeFromEnded = async (
  workspaceId: string,
  lock: WorkspaceLock & { nonce: string },
): Promise<Workspace | undefined> => {
  const current = (await get<Workspace>(keys.workspace(workspaceId)))?.lock;
  const run = current?.kind === 'run' ? await getRun(current.runId) : undefined;
  if (!run || !isFinal(run.status)) return undefined;
  return update<Workspace>(keys.workspace(workspaceId), {
    set: { lock: { ...lock, unsaved: unsavedOf(run) }, latestRunId: run.id },
    condition: 'attribute_not_exists(deletedAt) AND (#lock.runId = :runId OR #lock.nonce = :nonce)',
    names: { '#lock': 'lock' },
    values: { ':runId': run.id, ':nonce': lock.nonce },
  });
};
