import type { Attempt } from '../run/attempts.ts';

/** What the machine gives the function of a waiting state. */
export interface WaitingTask extends Attempt {
  runId: string;
}

/** What the machine gives the function of a state that does its work itself. */
export interface CheckTask {
  runId: string;
}
