import type { CaughtError, Ending } from '../run/lifecycle.ts';
import { finishRun } from '../store/finish.ts';

export interface CompleteTask {
  /** Name of the state, which says how the run ended. */
  ending: Ending;
  run: { runId: string; error?: CaughtError; missedHeartbeat?: CaughtError };
}

/** The one finisher: final status, lock released, next run started. */
export const handler = ({ ending, run }: CompleteTask): Promise<void> => {
  // Step Functions tells of a missed heartbeat as States.Timeout too; which catcher caught it makes the difference.
  const error = run.missedHeartbeat ? { Error: 'States.HeartbeatTimeout' } : run.error;
  return finishRun(run.runId, ending, error);
};
