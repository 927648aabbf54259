import { finishRun, RunnerStillStoppingError } from '#lifecycle/phases/finish.ts';
import { notify } from '#lifecycle/phases/notifications.ts';
import { dueShard, dueShards } from '#platform/store/due.ts';
import type { Key } from '#platform/store/keys.ts';
import { queryAll } from '#platform/store/table.ts';
import { getRun } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** Every run that has not ended is in the index of due items. */
const runsUnderWay = async (): Promise<Run[]> => {
  const shards = await Promise.all(
    Array.from({ length: dueShards }, (_, n) => queryAll<Key>({ pk: dueShard(n), index: 'due' })),
  );
  const ids = shards.flat().flatMap(({ pk, sk }) => (sk === 'RUN' ? [pk.replace('RUN#', '')] : []));
  const runs = await Promise.all(ids.map(getRun));
  return runs.filter((run): run is Run => run !== undefined && !isFinal(run.status));
};

const cause = (restoredTo: string): string =>
  `The platform was restored to ${restoredTo}. What this run did after that is not recorded, so it cannot continue. ` +
  'Compare the state with what exists (a refresh-only run), then start a new run.';

/** Ends every unfinished run, including queued ones. @returns ids; `stopping`: runs whose runner has not stopped yet */
export const endRuns = async (restoredTo: string): Promise<{ ended: string[]; stopping: string[] }> => {
  const [ended, stopping]: [string[], string[]] = [[], []];
  // Newest first: a run that ends starts the next one in the queue.
  const runs = (await runsUnderWay()).sort((a, b) => b.number - a.number);
  for (const run of runs) {
    const ending = run.apply.status === 'pending' ? 'PlanErrored' : 'ApplyErrored';
    try {
      const over = await finishRun(run.id, ending, { Error: 'DataRestored', Cause: cause(restoredTo) });
      if (over) await notify(over);
      ended.push(run.id);
    } catch (error) {
      if (!(error instanceof RunnerStillStoppingError)) throw error;
      stopping.push(run.id);
    }
  }
  return { ended, stopping };
};
