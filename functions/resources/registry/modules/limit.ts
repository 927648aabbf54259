import { unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import type { Limit } from '#platform/store/limited.ts';
import { countModules, maxModules } from './records.ts';

/** Maximum number of modules, published in any way. */
export const limitOfModules = (organization: string): Limit => ({
  max: maxModules,
  count: () => countModules(organization),
  full: () =>
    unprocessable('/data', `${nameOf(organization)} has ${maxModules} modules, the maximum. Delete one first`),
});
