/** The present time, in the format of records. */
export const now = (): string => new Date().toISOString();

/**
 * The present time, but always later than the given one: distinguishes versions of a record, also within one
 * millisecond.
 */
export const nowAfter = (before: string): string => {
  const at = now();
  return at > before ? at : new Date(Date.parse(before) + 1).toISOString();
};
