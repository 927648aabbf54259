import { isResultFinal } from '../run/task-stages.ts';
import type { TaskResult } from '../run-tasks/results.ts';
import { endTaskWait } from './task-tokens.ts';

/** Tells the waiting execution that a final result is there; false when nobody waits for it. May be repeated at will. */
export const deliverResult = async ({ status, token }: TaskResult): Promise<boolean> =>
  !!token && isResultFinal(status) && endTaskWait(token);
