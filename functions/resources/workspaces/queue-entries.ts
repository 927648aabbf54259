import { type Key, keys } from '#platform/store/keys.ts';
import { get, query } from '#platform/store/table.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** A place in a workspace's queue (lifecycle/queue/queue.ts). */
export interface QueueEntry {
  runId: string;
  place: number;
  /** When the place was taken; UTC ISO 8601. */
  at: string;
}

/** The place ahead of all others. */
export const front = 0;

/**
 * Maximum seconds from taking a place in the queue to creating the run: API Gateway times out after 30, and no other
 * function takes longer.
 */
export const creationSeconds = 60;

/** The first entries of the queue. 1 read. */
export const firstEntries = (workspaceId: string, limit: number, after?: Key): Promise<(QueueEntry & Key)[]> =>
  query({ pk: keys.workspace(workspaceId).pk, prefix: 'QUEUE#', limit, after: after?.sk });

/**
 * Whether the request that took the place must have ended. Includes entries from the future, which were written before
 * the clock was set back.
 */
export const isLapsed = ({ at }: QueueEntry): boolean => Math.abs(Date.now() - Date.parse(at)) > creationSeconds * 1000;

/** Whether the entry belongs to the run. A run that is being moved has two entries, one of them at the front. */
export const holds = ({ place }: Pick<Run, 'place'>, entry: QueueEntry): boolean =>
  place === undefined || entry.place === place || entry.place === front;

/**
 * The run that is current or next in the queue. Skips entries that an interrupted function left behind; the queue removes
 * them when it meets them. 1 read, and 1 more for an entry older than a minute.
 */
export const firstQueued = async (workspaceId: string): Promise<string | undefined> => {
  for (let after: Key | undefined; ; ) {
    const [first]: (QueueEntry & Key)[] = await firstEntries(workspaceId, 1, after);
    if (!first) return undefined;
    if (!isLapsed(first)) return first.runId;
    const run = await get<Pick<Run, 'status' | 'place'>>(keys.run(first.runId));
    if (run?.status && !isFinal(run.status) && holds(run, first)) return first.runId;
    after = first;
  }
};

/** Positions beyond this are not counted, so that reading a run stays cheap in a long queue. */
const maxPosition = 1000;

/** Number of runs ahead of each run in its workspace's queue, of those that are in one. 1 read per workspace. */
const placesIn = async (workspaceId: string): Promise<[runId: string, ahead: number][]> => {
  const entries = await firstEntries(workspaceId, maxPosition);
  // A run that is being moved has two entries.
  return [...new Set(entries.map(({ runId }) => runId))].map((runId, ahead) => [runId, ahead]);
};

/** Number of runs ahead of each pending run, by id. 1 read per workspace with a pending run. */
export const positionsOf = async (runs: Run[]): Promise<ReadonlyMap<string, number>> => {
  // Plan-only runs do not wait for others.
  const waiting = runs.filter(({ status, planOnly }) => status === 'pending' && !planOnly);
  const workspaceIds = [...new Set(waiting.map(({ workspaceId }) => workspaceId))];
  return new Map((await Promise.all(workspaceIds.map(placesIn))).flat());
};
