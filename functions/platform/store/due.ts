/**
 * The sparse index of items that the sweep has to check: an item is in it from `dueAt` on unless it has moved on by
 * then. Sharded, because a single index partition would bound the writes of the whole table.
 */
export const dueShards = 8;

export interface Due {
  dueShard?: string;
  dueAt?: string;
}

export const dueShard = (n: number): string => `due#${n}`;

/** Attributes that make an item due in so many seconds. */
export const dueIn = (id: string, seconds: number): Required<Due> => ({
  dueShard: dueShard(id.charCodeAt(id.length - 1) % dueShards),
  dueAt: new Date(Date.now() + seconds * 1000).toISOString(),
});

/** Attributes to remove when nothing can get stuck any more. */
export const dueAttributes = ['dueShard', 'dueAt', 'checkAt'];

/** When the sweep is to look at an item that changes often; it is in the index from an earlier time on. */
interface Check extends Record<string, unknown>, Due {
  checkAt: string;
}

/**
 * As {@link dueIn} for an item that changes often. Its entry of the index stays where it is when that is early enough, because to
 * move it costs as much as two writes: a run that is through within a minute moves none. Whoever finds it there before
 * `checkAt` only moves the entry (lifecycle/repair/sweep.ts).
 * @param before the item's attributes as they are; without them the entry is moved
 */
export const checkIn = (id: string, seconds: number, before?: Due): Check => {
  const due = dueIn(id, seconds);
  const { dueAt: checkAt } = due;
  return before?.dueAt && before.dueAt <= checkAt ? { checkAt } : { ...due, checkAt };
};
