/** Limits of lists: how many tokens a user has, how many agent pools an organization. */
export interface Limit {
  max: number;
  /** How many there are, with everything written before; consistent. */
  count(): Promise<number>;
  /** What a request without room is answered. */
  full(): Error;
}

/**
 * Creates one more of a limited list. What requests make at the same time none of them has counted before, so each counts
 * again after its write, and takes that back when there are too many: one that stays has counted all others that stay.
 * Of those that ask together for the last places, fewer than fit may get one. 1 count more.
 * @param takeBack undoes what was created; undefined was created nowhere
 * @throws what `full` returns
 */
export const createLimited = async <T>(
  { max, count, full }: Limit,
  create: () => Promise<T>,
  takeBack: (created: NonNullable<T>) => Promise<unknown>,
): Promise<T> => {
  if ((await count()) >= max) throw full();
  const created = await create();
  if (created === undefined || created === null || (await count()) <= max) return created;
  await takeBack(created);
  throw full();
};
