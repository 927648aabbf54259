import type { Limit } from '#platform/store/limited.ts';
import { unprocessable } from './errors.ts';
import { nameOf } from './naming.ts';

/**
 * Maximum length of a list of an organization.
 * @param of key of the organization
 * @param what plural noun of the entries, for the message: `SSH keys`
 */
export const listLimit = (of: string, max: number, what: string, count: Limit['count']): Limit => ({
  max,
  count,
  full: () => unprocessable('/data', `${nameOf(of)} has ${max} ${what}, the maximum. Delete one first`),
});
