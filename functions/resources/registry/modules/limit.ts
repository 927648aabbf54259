import { listLimit } from '#api/list-limit.ts';
import type { Limit } from '#platform/store/limited.ts';
import { countModules, maxModules } from './records.ts';

/** Maximum number of modules, published in any way. */
export const limitOfModules = (organization: string): Limit =>
  listLimit(organization, maxModules, 'modules', () => countModules(organization));
