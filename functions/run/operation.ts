import type { Run } from './run.ts';

/** The kind of run, in one word. */
export const runOperations = [
  'plan_and_apply',
  'plan_only',
  'refresh_only',
  'destroy',
  'empty_apply',
  'save_plan',
  'action_only',
] as const;
export type RunOperation = (typeof runOperations)[number];

type Facts = Pick<Run, 'planOnly' | 'savePlan' | 'isDestroy' | 'refreshOnly' | 'allowEmptyApply' | 'invokeActionAddrs'>;

export const operationOf = (run: Facts): RunOperation => {
  if (run.planOnly) return 'plan_only';
  if (run.savePlan) return 'save_plan';
  if (run.invokeActionAddrs) return 'action_only';
  if (run.isDestroy) return 'destroy';
  if (run.refreshOnly) return 'refresh_only';
  return run.allowEmptyApply ? 'empty_apply' : 'plan_and_apply';
};
