import { isResultFinal, type ReportedStatus, type TaskResultStatus } from './task-stages.ts';

/**
 * Handling of a run task's callback. `record`: it is stored. `repeat`: it repeats an earlier one, and changes nothing.
 * `unreachable`: the run was canceled or has ended, so it is stored and resumes nothing. `conflict`: the result is
 * final. Pure.
 */
export type CallbackDecision = 'record' | 'repeat' | 'unreachable' | 'conflict';

export const decideCallback = (
  status: TaskResultStatus,
  reported: ReportedStatus,
  { runIsOver }: { runIsOver: boolean },
): CallbackDecision => {
  if (!isResultFinal(status)) return runIsOver ? 'unreachable' : 'record';
  if (status === reported || status === 'unreachable') return 'repeat';
  return status === 'canceled' ? 'unreachable' : 'conflict';
};
