import {
  getTaskResult,
  resultSeconds,
  settleResult,
  silenceSeconds,
  type TaskResult,
} from '#resources/run-tasks/results.ts';
import type { CaughtError } from '#run/ending.ts';

export interface TaskUnansweredInput {
  runId: string;
  taskResultId: string;
  /** The error that Step Functions caught. */
  error: CaughtError;
}

/** Part of the silence by which the two clocks may differ, because they start at different moments. */
const clockDifference = 0.1;

const duration = (seconds: number): string => (seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} seconds`);

/** A missed heartbeat and a time limit have the same error name; the elapsed time distinguishes them. */
const timedOut = ({ waitingSince }: TaskResult): string => {
  const waited = Date.now() - Date.parse(waitingSince ?? '');
  return waited >= (resultSeconds() - silenceSeconds() * clockDifference) * 1000
    ? `The run task timed out: it did not finish within ${duration(resultSeconds())}.`
    : `The run task timed out: it sent no callback for ${duration(silenceSeconds())}.`;
};

const messageOf = (result: TaskResult, { Error: name }: CaughtError): string =>
  name === 'States.Timeout' || name === 'States.HeartbeatTimeout'
    ? timedOut(result)
    : `The platform could not call the run task (${name}). Start a new run; if it keeps failing, tell the operator of this platform.`;

/** Records why a wait for a run task ended without a result. A result that arrives at the last moment counts. */
export const handler = async ({ taskResultId, error }: TaskUnansweredInput): Promise<void> => {
  const result = await getTaskResult(taskResultId);
  if (!result) return;
  if (error.Error === 'Canceled') await settleResult(taskResultId, 'canceled');
  else await settleResult(taskResultId, 'errored', messageOf(result, error));
};
