import { runStates } from '../orchestration/run-states.ts';
import { deleteSuperseded, recoverState } from './snapshots.ts';

/** For a function that ends runs, before it ends one. */
export const endRunsWithStates = (): void => {
  Object.assign(runStates, { recover: recoverState, deleteSuperseded });
};
