import { keys } from './keys.ts';
import { update } from './table.ts';

/** How long a count is kept beyond its second: clocks of instances differ by less. */
const keptSeconds = 60;

/** Adds to a caller's requests within a second, and returns how many there are. 1 write. */
export const countRequests = async (caller: string, second: number, requests: number): Promise<number> => {
  const set = { expiresAt: second + keptSeconds };
  const item = await update<{ n: number }>(keys.requestCount(caller, second), { add: { n: requests }, set });
  return item?.n ?? requests;
};
