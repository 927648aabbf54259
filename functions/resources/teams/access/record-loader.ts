/** Calls `ask` once for each key. */
export const once = <T>(ask: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const answers = new Map<string, Promise<T>>();
  return (key) => {
    const answer = answers.get(key) ?? ask(key);
    answers.set(key, answer);
    return answer;
  };
};

/** Reads records by id in batches, each at most once. */
export const recordLoader = <R extends { id: string }>(read: (ids: string[]) => Promise<R[]>) => {
  const pending = new Map<string, Promise<R | undefined>>();
  const note = (id: string, reading: Promise<R | undefined>): void => {
    // Errors surface in the callers that await it.
    reading.catch(() => {});
    pending.set(id, reading);
  };
  const find = async (items: readonly (R | string)[]): Promise<(id: string) => R | undefined> => {
    for (const item of items) if (typeof item !== 'string') pending.set(item.id, Promise.resolve(item));
    const ids = [...new Set(items.map(idOf))];
    const missing = ids.filter((id) => !pending.has(id));
    const reading = missing.length ? read(missing) : Promise.resolve([]);
    for (const id of missing)
      note(
        id,
        reading.then((records) => records.find((record) => record.id === id)),
      );
    const byId = new Map(await Promise.all(ids.map(async (id) => [id, await pending.get(id)] as const)));
    return (id: string) => byId.get(id);
  };
  return { find, note };
};

export const idOf = (item: { id: string } | string): string => (typeof item === 'string' ? item : item.id);
