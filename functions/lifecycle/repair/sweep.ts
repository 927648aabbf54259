import { RunnerStillStoppingError } from '#lifecycle/phases/finish.ts';
import { runningContainers } from '#lifecycle/runners/launcher.ts';
import { stopStrayRunners } from '#lifecycle/runners/stray-runners.ts';
import { keepWarmRunners } from '#lifecycle/runners/warm-runners.ts';
import { repairSlots } from '#lifecycle/slots/repair.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { dueShard, dueShards } from '#platform/store/due.ts';
import type { Key } from '#platform/store/keys.ts';
import { logError, logWarning } from '#platform/store/log.ts';
import { query } from '#platform/store/table.ts';
import { handleDue } from './due-items.ts';

/**
 * Repairs, every minute: reads exactly those items whose due time passed without progress. Events are best effort,
 * and a handler can stop between two writes; the sweep completes the interrupted work. In a healthy system it reads
 * eight empty index partitions, and lists ECS's tasks.
 */

const perShard = 100;
/** Maximum of environments per invocation. */
const perList = 50;

export const handler = async (): Promise<{ looked: number; repaired: number }> => {
  const now = new Date().toISOString();
  const shards = await Promise.all(
    Array.from({ length: dueShards }, (_, n) =>
      query<Key>({ pk: dueShard(n), to: now, index: 'due', limit: perShard }),
    ),
  );
  // The index adds attributes that are not part of a key.
  const items = shards.flat().map(({ pk, sk }): Key => ({ pk, sk }));
  for (const shard of shards) await handleEnvironments(shard.filter(({ sk }) => ofEnvironments.has(sk)));
  let repaired = 0;
  for (const key of items.filter(({ sk }) => !ofEnvironments.has(sk))) {
    try {
      const repair = await handleDue(key);
      if (!repair) continue;
      repaired++;
      logRepair(repair, key.pk);
    } catch (error) {
      if (!(error instanceof RunnerStillStoppingError)) logError('repair failed', error, { item: key.pk });
    }
  }
  await keepWarmRunners().catch((error) => logError('maintaining the warm runners failed', error));
  const containers = await runningContainers();
  for (const runId of await stopStrayRunners(containers)) {
    repaired++;
    logRepair('container stopped', runId);
  }
  for (const slot of await repairSlots(containers)) {
    repaired++;
    logRepair('runner slot returned or given', slot);
  }
  return { looked: items.length, repaired };
};

/** Logs a repair; an alarm counts them (infra/stack/operations.ts). */
const logRepair = (repair: string, item: string): void => logWarning('repaired', { repair, item });

/** Sort keys of environments, of templates with prebuilt pools, and of the rest of deleted organizations. */
const ofEnvironments = new Set(['ENV', 'TPL', 'ENVEND']);

/**
 * Environments are due for a scheduled start or stop, which is no repair, or after an interrupted build. They stay due
 * until they are handled. Each part of the index has one invocation, which limits concurrent builds.
 */
const handleEnvironments = async (keys: Key[]): Promise<void> => {
  const due = keys.map(({ pk, sk }): Key => ({ pk, sk }));
  if (due.length) await invokeLater(environment.environmentSweepFunction, { due: due.slice(0, perList) });
};
