/**
 * The sparse index of items that the sweep has to check: an item is in it from `dueAt` on unless it has progressed by
 * then. Sharded, because a single index partition would limit the writes of the whole table.
 */
export const dueShards = 8;

export interface Due {
  dueShard?: string;
  dueAt?: string;
}

export const dueShard = (n: number): string => `due#${n}`;

/** Attributes that make an item due in this many seconds. */
export const dueIn = (id: string, seconds: number): Required<Due> => ({
  dueShard: dueShard(id.charCodeAt(id.length - 1) % dueShards),
  dueAt: new Date(Date.now() + seconds * 1000).toISOString(),
});

/** Attributes to remove when nothing can get stuck any more. */
export const dueAttributes = ['dueShard', 'dueAt', 'checkAt'];

/** Time of the sweep's check of an item that changes often; its index entry can be earlier. */
interface Check extends Record<string, unknown>, Due {
  checkAt: string;
}

/**
 * Like {@link dueIn} for an item that changes often. An index entry that is early enough stays, because moving it costs
 * two writes: a run that ends within a minute moves none. A sweep that finds the entry before `checkAt` only moves it
 * (lifecycle/repair/runs.ts).
 * @param before the item's present attributes; without them the entry is moved
 */
export const checkIn = (id: string, seconds: number, before?: Due): Check => {
  const due = dueIn(id, seconds);
  const { dueAt: checkAt } = due;
  return before?.dueAt && before.dueAt <= checkAt ? { checkAt } : { ...due, checkAt };
};
