import { allowedActions } from './actions.ts';
import { displayStatus } from './display.ts';
import { failedStepOf } from './failed-step.ts';
import type { Run } from './run.ts';
import { awaitedSlot } from './slots.ts';

/** The words for a run's status where no document of the run is sent, for users who can read the run. Pure. */
export const displayedStatus = (run: Run): string =>
  displayStatus({
    status: run.status,
    confirmable: allowedActions(run, '')['is-confirmable'] === true,
    statusTimestamps: run.statusTimestamps,
    failedStep: failedStepOf(run) ?? null,
    hasChanges: run.plan.report?.hasChanges ?? false,
    awaitsSlot: awaitedSlot(run) !== undefined,
  }).name;
