import { keys } from './keys.ts';
import { update } from './table.ts';

/** How long a count is kept after its first second: up to a minute is counted, and clocks of instances differ by less than another. */
const keptSeconds = 120;

/** Adds to a caller's requests in the time from a second on, and returns how many there are. 1 write. */
export const countRequests = async (caller: string, second: number, requests: number): Promise<number> => {
  const set = { expiresAt: second + keptSeconds };
  const item = await update<{ n: number }>(keys.requestCount(caller, second), { add: { n: requests }, set });
  return item?.n ?? requests;
};
