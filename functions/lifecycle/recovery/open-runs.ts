import { dueShard, dueShards } from '#platform/store/due.ts';
import type { Key } from '#platform/store/keys.ts';
import { queryAll } from '#platform/store/table.ts';
import { getRun } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** Every run of the platform that has not ended: all of them are in the index of due items. */
export const openRuns = async (): Promise<Run[]> => {
  const shards = await Promise.all(
    Array.from({ length: dueShards }, (_, n) => queryAll<Key>({ pk: dueShard(n), index: 'due' })),
  );
  const ids = shards.flat().flatMap(({ pk, sk }) => (sk === 'RUN' ? [pk.replace('RUN#', '')] : []));
  const runs = await Promise.all(ids.map(getRun));
  return runs.filter((run): run is Run => run !== undefined && !isFinal(run.status));
};
