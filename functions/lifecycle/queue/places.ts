import { randomInt, randomUUID } from 'node:crypto';
import { keys } from '#platform/store/keys.ts';
import { type Change, get, put, remove, update } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';
import { getRun, getRunEventually } from '#resources/runs/records.ts';
import { holds, isLapsed, type QueueEntry } from '#resources/workspaces/queue-entries.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/**
 * Places in a workspace's queue. A run takes its place before it exists, in this order:
 *
 * 1. put the queue entry, sorted by its place (a time in microseconds);
 * 2. commit the place in the workspace, on the condition that no later place was committed;
 * 3. create the run.
 *
 * So a run that reads the queue sees the entries of all earlier places and cannot overtake them: after the commit of
 * a later place, an earlier one can no longer be committed. An entry without a run blocks the queue for a minute.
 * Then its place is voided in the run's item, so that a late creation fails, and the entry is removed.
 */

interface Commit extends Pick<Change, 'add' | 'condition' | 'values'> {
  /** Error if the workspace can no longer accept the place. */
  refusal?: (workspace: Workspace) => Error | undefined;
}

export interface Taken {
  /** The workspace after the commit. */
  workspace: Workspace;
  place: number;
}

let latest = 0;

/** Unique in this process, and greater than `last`: clocks differ, and can be set back. */
const nextPlace = (last = 0): number => {
  latest = Math.max(Date.now() * 1000, latest + 1, last + randomInt(1, 1000));
  return latest;
};

const digits = 10;

/**
 * Place and run id, sorted like the queue's keys. Short, because writing a workspace item under 1 KB costs one unit.
 */
const markOf = ({ id }: Pick<Run, 'id'>, place: number): string =>
  place.toString(36).padStart(digits, '0') + id.slice('run-'.length);

const placeIn = ({ place = '' }: Workspace): number => Number.parseInt(place.slice(0, digits), 36) || 0;

/** @returns false if another attempt to create the same run has this place */
const putEntry = ({ id, workspaceId }: Pick<Run, 'id' | 'workspaceId'>, place: number): Promise<boolean> => {
  const attempt = randomUUID();
  return put(
    { ...keys.queued(workspaceId, place, id), runId: id, place, at: now(), attempt },
    { condition: 'attribute_not_exists(pk) OR attempt = :attempt', values: { ':attempt': attempt } },
  );
};

/**
 * Takes the last place in the queue. 1 write for the entry and 1 for the workspace; as many again each time another
 * run takes a later place in between.
 * @param queued false for a plan-only run, which is counted but does not wait
 * @throws {Error} the refusal, or that the workspace does not exist
 */
export const takePlace = async (
  run: Pick<Run, 'id' | 'workspaceId'>,
  { add, condition, values, refusal }: Commit,
  queued: boolean,
): Promise<Taken> => {
  const key = keys.workspace(run.workspaceId);
  for (let last: number | undefined; ; ) {
    const place = nextPlace(last);
    if (queued && !(await putEntry(run, place))) continue;
    const mark = markOf(run, place);
    const committed = await update<Workspace>(key, {
      add,
      set: { place: mark },
      condition: `attribute_exists(pk) AND attribute_not_exists(deletedAt) AND (attribute_not_exists(place) OR place < :mark)${condition ? ` AND ${condition}` : ''}`,
      values: { ':mark': mark, ...values },
    });
    const workspace = committed ?? (await get<Workspace>(key));
    // The SDK may have retried a write whose response was lost.
    if (workspace?.place === mark) return { workspace, place };
    if (queued) await dropPlace(run, place);
    if (!workspace || workspace.deletedAt) throw new Error(`workspace ${run.workspaceId} does not exist`);
    const refused = refusal?.(workspace);
    if (refused) throw refused;
    last = placeIn(workspace);
  }
};

/** Removes the entry. 1 write. */
export const dropPlace = ({ id, workspaceId }: Pick<Run, 'id' | 'workspaceId'>, place: number): Promise<boolean> =>
  remove(keys.queued(workspaceId, place, id));

/** Write condition for creating a run: the run does not exist, and its place was not voided. */
export const unlessVoided = (place: number): Pick<Change, 'condition' | 'values'> => ({
  condition: 'attribute_not_exists(pk) OR voidedPlace < :place',
  values: { ':place': place },
});

/** `awaited`: the run may still be created; `void`: the run has ended, has another place, or will never exist. */
export type Standing = 'taken' | 'awaited' | 'void';

/** 1 eventually consistent read for an entry whose run waits. */
export const standingOf = async (entry: QueueEntry): Promise<Standing> => {
  const isValidFor = (run: Run) => !isFinal(run.status) && holds(run, entry);
  const eventual = await getRunEventually(entry.runId);
  const run = eventual && isValidFor(eventual) ? eventual : await getRun(entry.runId);
  if (run) return isValidFor(run) ? 'taken' : 'void';
  if (!isLapsed(entry)) return 'awaited';
  return (await voidPlace(entry)) ? 'void' : standingOf(entry);
};

/** How long the run's item keeps a voided place, which rejects a late creation even after the entry was removed. */
const voidSeconds = 24 * 3600;

/** Prevents the creation of the run at this place. @returns false if the run exists */
const voidPlace = async ({ runId, place }: QueueEntry): Promise<boolean> => {
  const voided = await update(keys.run(runId), {
    set: { voidedPlace: place, expiresAt: expiryIn(voidSeconds) },
    condition: 'attribute_not_exists(pk) OR voidedPlace <= :place',
    values: { ':place': place },
  });
  return voided !== undefined;
};
