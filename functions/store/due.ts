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
export const dueAttributes = ['dueShard', 'dueAt'];
