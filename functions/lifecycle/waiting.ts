import type { Attempt } from '../run/attempts.ts';

/** Input of a waiting state's function. */
export interface WaitingTask extends Attempt {
  runId: string;
}

/** Input of a function that does its state's work itself. */
export interface CheckTask {
  runId: string;
}
