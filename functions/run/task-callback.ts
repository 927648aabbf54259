import { isResultFinal, type ReportedStatus, type TaskResultStatus } from './task-stages.ts';

/**
 * Handling of a run task's callback. `record`: store it. `repeat`: ignore it, because it repeats an earlier callback.
 * `unreachable`: store it with this status and resume nothing, because the run was canceled or has ended. `conflict`:
 * reject it, because the result is final. Pure.
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
