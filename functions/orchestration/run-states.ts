import type { Run } from '../run/run.ts';

/**
 * What becomes of an apply's state when its run ends. States are above runs, so that the functions that end runs bring it
 * along (states/end-of-run.ts).
 */
interface RunStates {
  /** Makes the newest state current that the runner had said; call it while the run holds the workspace. May be repeated. */
  recover(run: Run): Promise<void>;
  /** Deletes what the last one has superseded. May be repeated. */
  deleteSuperseded(run: Run): Promise<void>;
}

const nothing = async (): Promise<void> => {};

export const runStates: RunStates = { recover: nothing, deleteSuperseded: nothing };
