import { Cache } from '#platform/store/cache.ts';
import type { StateInstance } from '#resources/states/content.ts';
import { getStateVersions, readSummary } from '#resources/states/records.ts';
import { inParallel } from './facts.ts';

/** Maximum number of cached instances; they take about 100 MB of the function's memory. */
const maxKept = 150_000;

/**
 * Cache of the resource instances in states: every page of a result needs all of them for its order and total. A
 * state version never changes, so a cached one is never outdated. Permissions are checked again for each request
 * before it reads this cache.
 */
const kept = new Cache<StateInstance[]>({ maxWeight: maxKept });

const keep = (stateId: string, instances: StateInstance[]): void => {
  if (!kept.has(stateId) && instances.length <= maxKept / 4) kept.set(stateId, instances, instances.length + 1);
};

/**
 * Calls `use` with the instances of each state, in the order of the ids; a missing state has none. Uncached states
 * take 1 read per 100 and 1 object each.
 */
export const inStates = async <R>(
  stateIds: string[],
  use: (instances: StateInstance[], index: number) => R,
): Promise<R[]> => {
  // References keep these alive while new states evict others from the cache.
  const held = stateIds.map((id) => kept.get(id));
  const missing = stateIds.filter((_, i) => !held[i]);
  const versions = new Map((missing.length ? await getStateVersions(missing) : []).map((one) => [one.id, one]));
  return inParallel([...stateIds.entries()], async ([index, id]) => {
    const known = held[index];
    if (known) return use(known, index);
    const version = versions.get(id);
    const summary = version && (await readSummary(version));
    if (summary) keep(id, summary.instances);
    return use(summary?.instances ?? [], index);
  });
};
