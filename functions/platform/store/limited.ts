/** Limits of lists, such as a user's tokens or an organization's agent pools. */
export interface Limit {
  max: number;
  /** Current number of entries, from a consistent read. */
  count(): Promise<number>;
  /** The error if the limit is reached. */
  full(): Error;
}

/**
 * Creates an entry of a limited list. Concurrent requests do not see each other's entries before they write, so each
 * request counts again after its write, and removes its entry if there are too many. No entry above the limit stays,
 * but concurrent requests for the last places may all be rejected. Costs 1 more count.
 * @param takeBack undoes the creation; not called for undefined
 * @throws the error of `full`
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
