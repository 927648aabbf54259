import type { Run } from './run.ts';

/**
 * Whether nobody sees it as a run: an assessment of health, a test run of a module, or a query. It has no number, no place in
 * the queue and no lock, and lists and finders of runs do not know it. Pure.
 */
export const isHidden = ({ assessment, test, query }: Pick<Run, 'assessment' | 'test' | 'query'>): boolean =>
  (assessment ?? test ?? query) !== undefined;
