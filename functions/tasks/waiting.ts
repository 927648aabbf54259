/** What the machine gives the function of a waiting state. */
export interface WaitingTask {
  runId: string;
  /** Step Functions task token; kept with the run, told to nobody. */
  token: string;
}

/** What the machine gives the function of a state that does its work itself. */
export interface CheckTask {
  runId: string;
}
