import { Cache } from '#platform/store/cache.ts';
import type { StateInstance } from '#resources/states/content.ts';
import { getStateVersions, readSummary } from '#resources/states/records.ts';
import { inParallel } from './facts.ts';

/** Instances: about 100 MB of the function's memory. */
const maxKept = 150_000;

/**
 * What states consist of, kept between requests: an answer comes in pages, each of which needs all of them for its order
 * and total. A state version never changes, so what is kept is never out of date. Whose states they are is decided
 * anew for each request, before it gets here.
 */
const kept = new Cache<StateInstance[]>({ maxWeight: maxKept });

const keep = (stateId: string, instances: StateInstance[]): void => {
  if (!kept.has(stateId) && instances.length <= maxKept / 4) kept.set(stateId, instances, instances.length + 1);
};

/**
 * Calls `use` with the instances of each state, in the order of the ids; a state that is not there has none. What is not kept
 * takes 1 read for 100 states and 1 object for each.
 */
export const inStates = async <R>(
  stateIds: string[],
  use: (instances: StateInstance[], index: number) => R,
): Promise<R[]> => {
  // Held here, because what is read makes room for itself.
  const held = stateIds.map((id) => kept.get(id));
  const missing = stateIds.filter((_, i) => !held[i]);
  const versions = new Map((missing.length ? await getStateVersions(missing) : []).map((one) => [one.id, one]));
  return inParallel([...stateIds.entries()], async ([index, id]) => {
    const known = held[index];
    if (known) return use(known, index);
    const version = versions.get(id);
    const summary = version && (await readSummary(version));
    if (summary) keep(id, summary.instances ?? []);
    return use(summary?.instances ?? [], index);
  });
};
