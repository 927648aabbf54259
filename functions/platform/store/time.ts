/** The present, as records keep it. */
export const now = (): string => new Date().toISOString();

/** The present, but always later than another time: what tells versions of a record apart, also in one millisecond. */
export const nowAfter = (before: string): string => {
  const at = now();
  return at > before ? at : new Date(Date.parse(before) + 1).toISOString();
};
