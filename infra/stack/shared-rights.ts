import type { Grants, Permission } from './grants.ts';

/** Rights that several functions have for the same reason. */

/** Enters a state: changes the run, and looks at what it changed. */
export const rightsToEnterStates = (may: Grants): Permission[] => [may.table('GetItem', 'UpdateItem')];

/** Starts containers. One whose run ended while it was started is stopped at once. */
export const launching = (may: Grants): Permission[] => [
  // That a run waits for an agent is told in its timeline; runners that stand ready have items.
  may.table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'),
  ...may.launch(),
  may.onTasks('StopTask'),
];

/** Leads a run past its confirmation: whether its authors may still apply it, and a line of its timeline where they may not. */
export const passingConfirmation = (may: Grants): Permission =>
  may.table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem');

/** Judges a plan by policies: what it read and what it found lies with the run. */
export const judgingPolicies = (may: Grants): Permission[] => [
  passingConfirmation(may),
  may.key('Decrypt', 'GenerateDataKey'),
  may.readObjects('inputs', 'policies', 'runs'),
  may.writeObjects('runs'),
  may.seeMissingObjects(),
];

export const rightsToFinishRuns = (may: Grants): Permission[] => [
  // An apply's snapshots go once its last state is there.
  may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  may.key('GenerateDataKey', 'Decrypt'),
  may.onTasks('StopTask', 'DescribeTasks'),
  may.listTasks(),
  // Of a run that was cut off: the log that its runner did not store, the state that it could not, and the last snapshots
  // of one, which tell what to change in the state before.
  may.readObjects('runs', 'states', 'uploads'),
  may.writeObjects('runs', 'states'),
  may.seeMissingObjects(),
  may.notify(),
];

export const rightsToBeginRuns = (may: Grants): Permission[] => [
  may.key('GenerateDataKey', 'Decrypt'),
  // What was uploaded is taken in when a run needs it, if nobody looked before.
  may.readObjects('configurations', 'policies', 'uploads'),
  may.writeObjects('configurations', 'inputs', 'policies'),
  may.seeMissingObjects(),
  may.startExecutions(),
];

export const rightsToCreateRuns = (may: Grants): Permission[] => [
  // A place in the queue that the run does not get is given up, and a run that waits behind it is resumed.
  may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  ...rightsToBeginRuns(may),
  may.answerExecutions(),
];
