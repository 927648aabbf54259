import type { Run } from './run.ts';

/**
 * Whether users do not see it as a run: a health assessment, a module's test run, or a query. It has no number, no
 * place in the queue and no lock, and is in no list of runs. Pure.
 */
export const isHidden = ({ assessment, test, query }: Pick<Run, 'assessment' | 'test' | 'query'>): boolean =>
  (assessment ?? test ?? query) !== undefined;
