import type { Run } from './run.ts';

/**
 * Whether the run is hidden from users: a health assessment, a module's test run, or a query. A hidden run has no
 * number, no place in the queue and no lock, and is in no list of runs. Pure.
 */
export const isHidden = ({ assessment, test, query }: Pick<Run, 'assessment' | 'test' | 'query'>): boolean =>
  (assessment ?? test ?? query) !== undefined;
