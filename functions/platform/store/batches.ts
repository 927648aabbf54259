/** Calls `work` for each item, `size` calls at a time. Stops after the first batch in which a call fails, and rejects. */
export const inBatches = async <T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  size = 20,
): Promise<void> => {
  for (let i = 0; i < items.length; i += size) {
    await Promise.all(items.slice(i, i + size).map((item) => work(item)));
  }
};
