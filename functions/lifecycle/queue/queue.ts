import type { Run } from '../run/run.ts';
import type { UnsavedState } from '../run/state-identity.ts';
import { isFinal } from '../run/status.ts';
import { getRun, updateRun } from '../runs/records.ts';
import { dueIn } from '../store/due.ts';
import { type Key, keys } from '../store/keys.ts';
import { get, put, query, remove, update } from '../store/table.ts';
import type { WorkspaceLock } from '../workspaces/lock-record.ts';
import type { Workspace } from '../workspaces/records.ts';
import { deliver } from './execution.ts';

/**
 * Each workspace's queue. Entries lie in the workspace's partition, ordered by run number; the workspace's `lock`
 * names the current run. No operation reads or writes more than a few items, however long the queue is, and each may
 * be repeated or interrupted at any point:
 *
 * - A run becomes current by one conditional write of the lock; then its own item is marked current.
 * - A final run releases the lock *after* its final status was written. So a caller that takes the lock for a run and
 *   then finds the run not final can rely on the finisher.
 */

interface Entry {
  runId: string;
}

type Queued = Entry & { sk: string };

const firstOf = (workspaceId: string, limit: number): Promise<Queued[]> =>
  query<Queued>({ pk: keys.workspace(workspaceId).pk, prefix: 'QUEUE#', limit });

/** Makes the first queued run current if the workspace is free, and resumes its execution. */
export const startNext = async (workspaceId: string): Promise<void> => {
  for (;;) {
    const [first] = await firstOf(workspaceId, 1);
    if (!first) return;
    const { runId, sk } = first;
    if (!(await lockFor(workspaceId, runId))) {
      if (await hasBecomeFree(workspaceId)) continue;
      return;
    }
    const run = await updateRun(runId, { set: { current: true } });
    if (run) {
      await deliver(run);
      return;
    }
    // The run ended after the queue was read, or its finisher stopped early: remove it and try the next one.
    if (!(await returnTurn(workspaceId, runId, sk))) return;
  }
};

/**
 * {@link startNext} for callers that have released no lock: writes nothing while a run is under way, which starts the next one
 * when it ends. 2 reads then, and 1 write if it thought that nobody waits.
 */
export const startIfFree = async (workspaceId: string): Promise<void> => {
  if ((await holderOf(workspaceId)).is !== 'busy') await startNext(workspaceId);
};

/**
 * Who keeps the workspace from the next run: `nobody` (any more); `over`: a run that has ended, whose finisher may have stopped before it
 * gave the lock back; `waits`: a run that may wait to be resumed, by a caller that may have stopped before it did that;
 * `busy`: a person, or a run under way, which starts the next one. A run that thought that nobody waits is told.
 */
type Holder = { is: 'nobody' | 'waits' | 'busy' } | { is: 'over'; run: Run };

/** 2 reads, and 1 write when the run thought that nobody waits. */
const holderOf = async (workspaceId: string): Promise<Holder> => {
  const workspace = await get<Workspace>(keys.workspace(workspaceId));
  // Nothing is started in one that is gone.
  if (!workspace) return { is: 'busy' };
  const { lock } = workspace;
  if (!lock) return { is: 'nobody' };
  if (lock.kind !== 'run') return { is: 'busy' };
  if (lock.alone && !(await tellHolder(workspaceId, lock.runId))) return { is: 'nobody' };
  const run = await getRun(lock.runId);
  if (run && isFinal(run.status)) return { is: 'over', run };
  const isResumed = run?.current && run.wait?.state !== 'Pending' && run.wait?.state !== 'Confirmed';
  return { is: isResumed ? 'busy' : 'waits' };
};

const lockFor = (workspaceId: string, runId: string): Promise<Workspace | undefined> =>
  update<Workspace>(keys.workspace(workspaceId), {
    set: { lock: { kind: 'run', runId, at: new Date().toISOString() } },
    condition: 'attribute_exists(pk) AND (attribute_not_exists(#lock) OR #lock.runId = :runId)',
    names: { '#lock': 'lock' },
    values: { ':runId': runId },
  });

/** False while the run has not ended: its finisher releases the lock. */
const returnTurn = async (workspaceId: string, runId: string, sk: string): Promise<boolean> => {
  const ended = await getRun(runId);
  if (ended && !isFinal(ended.status)) return false;
  await remove({ pk: keys.workspace(workspaceId).pk, sk });
  await giveBack(workspaceId, runId, ended);
  return true;
};

/**
 * Locks the workspace for a run that is first in the queue of a free one. The caller marks it current, in a write that it
 * makes anyway; if that fails, it calls {@link leaveTurn}.
 */
export const takeTurn = async ({ id, workspaceId }: Run): Promise<boolean> => {
  const [first, second] = await firstOf(workspaceId, 2);
  if (first?.runId !== id) return false;
  const taken = second ? undefined : await lockAlone(workspaceId, id);
  return (taken ?? (await lockFor(workspaceId, id))) !== undefined;
};

/**
 * Locks a free workspace without other queued runs: when this run ends, the queue need not be read. A later run
 * removes the mark before it waits ({@link startIfFree}), in the same item that decides the end.
 */
const lockAlone = (workspaceId: string, runId: string): Promise<Workspace | undefined> =>
  update<Workspace>(keys.workspace(workspaceId), {
    set: { lock: { kind: 'run', runId, at: new Date().toISOString(), alone: true } },
    condition: 'attribute_exists(pk) AND attribute_not_exists(#lock)',
    names: { '#lock': 'lock' },
  });

/** Releases the lock of a run that could not be marked current. */
export const leaveTurn = async (run: Run): Promise<void> => {
  if (await returnTurn(run.workspaceId, run.id, queueEntry(run).sk)) await startNext(run.workspaceId);
};

/**
 * Releases the run's lock, or keeps it while the run's state is not saved.
 * @returns the workspace as it was before; undefined when the run holds no lock
 */
const giveBack = (workspaceId: string, runId: string, run: Run | undefined): Promise<Workspace | undefined> => {
  const unsaved = unsavedOf(run);
  return update<Workspace>(keys.workspace(workspaceId), {
    set: {
      latestRunId: runId,
      ...(unsaved ? { lock: { kind: 'run', runId, at: new Date().toISOString(), unsaved } } : {}),
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
  const { runId, serial, lineage, md5 } = run.unsaved;
  return { runId, serial, lineage, ...(md5 === undefined ? {} : { md5 }) };
};

/**
 * Whether another try to lock the workspace may succeed: it was released meanwhile, or is now, because its lock was taken by an interrupted
 * caller for a run that has left the queue.
 */
const hasBecomeFree = async (workspaceId: string): Promise<boolean> => {
  const holder = await holderOf(workspaceId);
  if (holder.is !== 'over') return holder.is === 'nobody';
  return (await giveBack(workspaceId, holder.run.id, holder.run)) !== undefined;
};

const tellHolder = (workspaceId: string, runId: string): Promise<Workspace | undefined> =>
  update<Workspace>(keys.workspace(workspaceId), {
    remove: ['lock.alone'],
    condition: '#lock.runId = :runId',
    names: { '#lock': 'lock' },
    values: { ':runId': runId },
  });

/**
 * Replaces the lock of a run that has ended (and is releasing it, or has an unsaved state) by a user's lock, so that users
 * can lock a workspace as soon as its run is final. Undefined when no such run holds the lock.
 */
export const takeFromEnded = async (
  workspaceId: string,
  lock: WorkspaceLock & { nonce: string },
): Promise<Workspace | undefined> => {
  const held = (await get<Workspace>(keys.workspace(workspaceId)))?.lock;
  const run = held?.kind === 'run' ? await getRun(held.runId) : undefined;
  if (!run || !isFinal(run.status)) return undefined;
  return update<Workspace>(keys.workspace(workspaceId), {
    set: { lock: { ...lock, unsaved: unsavedOf(run) }, latestRunId: run.id },
    condition: 'attribute_not_exists(deletedAt) AND (#lock.runId = :runId OR #lock.nonce = :nonce)',
    names: { '#lock': 'lock' },
    values: { ':runId': run.id, ':nonce': lock.nonce },
  });
};

/** The run's position in its workspace's queue. */
const queueEntry = ({ workspaceId, number, queueKey }: Run): Key =>
  queueKey ? { pk: keys.workspace(workspaceId).pk, sk: queueKey } : keys.queued(workspaceId, number);

/** Queues a confirmed saved plan behind all existing runs, and starts it if it is first. */
export const joinQueue = async (run: Run): Promise<void> => {
  const workspace = await get<Workspace>(keys.workspace(run.workspaceId));
  if (!workspace) return;
  const queueKey = run.queueKey ?? `${keys.queued(run.workspaceId, workspace.runCount).sk}#${run.id}`;
  const placed = run.queueKey ? run : await updateRun(run.id, { set: { queueKey } });
  if (!placed) return;
  await put({ ...queueEntry(placed), runId: run.id });
  await startNext(run.workspaceId);
};

/** Moves a pending run to the front of the queue; false when it is not pending any more. */
export const moveToFront = async (run: Run): Promise<boolean> => {
  const moved = await updateRun(run.id, {
    set: { queueKey: `QUEUE#!${run.id}` },
    condition: 'status = :pending AND attribute_not_exists(current)',
    values: { ':pending': 'pending' },
  });
  if (!moved) return false;
  await put({ ...queueEntry(moved), runId: run.id });
  await remove(keys.queued(run.workspaceId, run.number));
  return true;
};

/** Removes an ended run from the queue and starts the next one. Call it after the final status was written. */
export const leaveQueue = async (run: Run): Promise<void> => {
  await Promise.all([remove(queueEntry(run)), remove(keys.openRun(run.organization, run.createdAt, run.id))]);
  const before = await giveBack(run.workspaceId, run.id, run);
  if (isAlone(before)) return;
  if (before) await startNext(run.workspaceId);
  else await startIfFree(run.workspaceId);
};

const isAlone = (workspace: Workspace | undefined): boolean =>
  workspace?.lock?.kind === 'run' && !!workspace.lock.alone;

/** Marks a workspace before its lock is released, so that the sweep starts the queue if the caller stops before that. */
export const startDue = (workspaceId: string) => dueIn(workspaceId, 60);
