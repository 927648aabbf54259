/** The present time, in the format of records. */
export const now = (): string => new Date().toISOString();

/** A time in the future, in the format of records. */
export const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

/**
 * The present time, but always later than the given one: distinguishes versions of a record, also within one
 * millisecond.
 */
export const nowAfter = (before: string): string => {
  const at = now();
  return at > before ? at : new Date(Date.parse(before) + 1).toISOString();
};

/** When DynamoDB may remove an item: its attribute `expiresAt`, in seconds since 1970. @param from ms since 1970 */
export const expiryIn = (seconds: number, from = Date.now()): number => Math.floor(from / 1000) + seconds;
