import { keys } from './keys.ts';
import { update } from './table.ts';

/**
 * Lifetime of a count after its first second: a window lasts up to a minute, and the clocks of instances differ by less
 * than a minute.
 */
const keptSeconds = 120;

/** Adds to a caller's requests in the window that begins at a second, and returns their number. 1 write. */
export const countRequests = async (caller: string, second: number, requests: number): Promise<number> => {
  const set = { expiresAt: second + keptSeconds };
  const item = await update<{ n: number }>(keys.requestCount(caller, second), { add: { n: requests }, set });
  return item?.n ?? requests;
};
