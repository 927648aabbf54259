import type { Run } from '../run/run.ts';
import type { UnsavedState } from '../run/state-identity.ts';
import { isFinal } from '../run/status.ts';
import { getRun, updateRun } from '../runs/records.ts';
import { dueIn } from '../store/due.ts';
import { type Key, keys } from '../store/keys.ts';
import { get, put, query, remove, update } from '../store/table.ts';
import type { Workspace } from '../workspaces/records.ts';
import { deliver } from './execution.ts';

/**
 * Each workspace's queue. Entries lie in the workspace's partition in the order of run numbers; the workspace's `lock`
 * says who is current. No operation reads or writes more than a few items, however long the queue is, and each may be
 * repeated or cut off anywhere:
 *
 * - A run becomes current by one conditional write of the lock, then learns of it by a write of its own item.
 * - A run that is final gives the lock back *after* its final status was written. So whoever takes the lock for a run
 *   and then finds it not final can rely on the finisher to come.
 */

interface Entry {
  runId: string;
}

const head = async (workspaceId: string): Promise<{ entry: Entry & { sk: string } } | undefined> => {
  const [entry] = await query<Entry & { sk: string }>({
    pk: keys.workspace(workspaceId).pk,
    prefix: 'QUEUE#',
    limit: 1,
  });
  return entry && { entry };
};

/** Makes the first queued run current if the workspace is free, and tells its execution. */
export const startNext = async (workspaceId: string): Promise<void> => {
  for (;;) {
    const first = await head(workspaceId);
    if (!first) return;
    const { runId, sk } = first.entry;
    const locked = await update<Workspace>(keys.workspace(workspaceId), {
      set: { lock: { kind: 'run', runId, at: new Date().toISOString() } },
      condition: 'attribute_exists(pk) AND (attribute_not_exists(#lock) OR #lock.runId = :runId)',
      names: { '#lock': 'lock' },
      values: { ':runId': runId },
    });
    if (!locked) {
      if (await releaseFromEnded(workspaceId)) continue;
      return;
    }
    const run = await updateRun(runId, { set: { current: true } });
    if (run) {
      await deliver(run);
      return;
    }
    // It ended between the look at the queue and the lock, or its finisher was cut off: clear up and look again.
    const ended = await getRun(runId);
    if (ended && !isFinal(ended.status)) return;
    await remove({ pk: keys.workspace(workspaceId).pk, sk });
    await giveBack(workspaceId, runId, ended);
  }
};

/** Ends a run's hold on its workspace, or has it hold on for the sake of its state. Undefined when it holds nothing. */
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
  });
};

const unsavedOf = (run: Run | undefined): UnsavedState | undefined => {
  if (!run?.unsaved) return undefined;
  const { runId, serial, lineage, md5 } = run.unsaved;
  return { runId, serial, lineage, ...(md5 === undefined ? {} : { md5 }) };
};

/** Gives back what was locked for a run after it had left: the write of somebody who was cut off came late. */
const releaseFromEnded = async (workspaceId: string): Promise<boolean> => {
  const lock = (await get<Workspace>(keys.workspace(workspaceId)))?.lock;
  const run = lock?.kind === 'run' ? await getRun(lock.runId) : undefined;
  return !!run && isFinal(run.status) && (await giveBack(workspaceId, run.id, run)) !== undefined;
};

/**
 * Puts a user's lock in place of that of a run which has ended, and is about to give it back or waits for its state to be
 * brought in: whoever sees that a run is over can lock its workspace. Undefined when there is no such run.
 */
export const takeFromEnded = async (
  workspaceId: string,
  lock: NonNullable<Workspace['lock']>,
): Promise<Workspace | undefined> => {
  const held = (await get<Workspace>(keys.workspace(workspaceId)))?.lock;
  const run = held?.kind === 'run' ? await getRun(held.runId) : undefined;
  if (!run || !isFinal(run.status)) return undefined;
  return update<Workspace>(keys.workspace(workspaceId), {
    set: { lock: { ...lock, unsaved: unsavedOf(run) }, latestRunId: run.id },
    condition: 'attribute_not_exists(deletedAt) AND #lock.runId = :runId',
    names: { '#lock': 'lock' },
    values: { ':runId': run.id },
  });
};

/** Where a run stands in its workspace's queue. */
const queueEntry = ({ workspaceId, number, queueKey }: Run): Key =>
  queueKey ? { pk: keys.workspace(workspaceId).pk, sk: queueKey } : keys.queued(workspaceId, number);

/** Puts a confirmed saved plan behind every run created so far, and starts it if nobody is in front. */
export const joinQueue = async (run: Run): Promise<void> => {
  const workspace = await get<Workspace>(keys.workspace(run.workspaceId));
  if (!workspace) return;
  const queueKey = run.queueKey ?? `${keys.queued(run.workspaceId, workspace.runCount).sk}#${run.id}`;
  const placed = run.queueKey ? run : await updateRun(run.id, { set: { queueKey } });
  if (!placed) return;
  await put({ ...queueEntry(placed), runId: run.id });
  await startNext(run.workspaceId);
};

/** Puts a pending run in front of all others; false when it is not pending any more. */
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

/** Takes an ended run out of the queue and starts the next one. Call it after the final status was written. */
export const leaveQueue = async (run: Run): Promise<void> => {
  await Promise.all([remove(queueEntry(run)), remove(keys.openRun(run.organization, run.createdAt, run.id))]);
  const workspace = await giveBack(run.workspaceId, run.id, run);
  if (workspace || (await mayStart(run.workspaceId))) await startNext(run.workspaceId);
};

/**
 * Whether the next run may have to be started, though nothing was given back: nobody holds the workspace, or a run does
 * that was not told, or whose execution was not, because whoever gave it the lock died then and is now here again.
 */
const mayStart = async (workspaceId: string): Promise<boolean> => {
  const lock = (await get<Workspace>(keys.workspace(workspaceId)))?.lock;
  if (!lock) return true;
  if (lock.kind !== 'run') return false;
  const holder = await getRun(lock.runId);
  return !holder?.current || holder.wait?.state === 'Pending' || holder.wait?.state === 'Confirmed';
};

/** Marks a workspace that becomes free, so that the sweep starts its queue should the caller die before it does. */
export const startDue = (workspaceId: string) => dueIn(workspaceId, 60);
