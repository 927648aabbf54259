import type { Run } from '../run/run.ts';

/**
 * Handling of an apply's state when its run ends. States are above runs in the layers, so the functions that end runs pass it
 * in (states/end-of-run.ts).
 */
interface RunStates {
  /** Makes the runner's newest reported state current; must be called while the run holds the lock. May be repeated. */
  recover(run: Run): Promise<void>;
  /** Deletes snapshots that the last state has superseded. May be repeated. */
  deleteSuperseded(run: Run): Promise<void>;
}

const nothing = async (): Promise<void> => {};

export const runStates: RunStates = { recover: nothing, deleteSuperseded: nothing };
