import type { Grants, Permission } from './grants.ts';

/** Rights that several functions need for the same reason. */

/** Enters a state: updates the run and reads the items that depend on it. */
export const rightsToEnterStates = (may: Grants): Permission[] => [may.table('GetItem', 'UpdateItem')];

/** Starts containers. If the run ended meanwhile, the container is stopped at once. */
export const launching = (may: Grants): Permission[] => [
  // Adds a line to the timeline of a run that waits for an agent; warm runners are items of the table.
  may.table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'),
  ...may.launch(),
  may.onTasks('StopTask'),
];

/**
 * Moves a run past its confirmation: checks whether its authors may still apply it, and adds a line to its timeline if
 * not.
 */
export const passingConfirmation = (may: Grants): Permission =>
  may.table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem');

/** Evaluates policies on a plan: its inputs and results are stored with the run. */
export const judgingPolicies = (may: Grants): Permission[] => [
  passingConfirmation(may),
  may.key('Decrypt', 'GenerateDataKey'),
  may.readObjects('inputs', 'policies', 'runs'),
  may.writeObjects('runs'),
  may.seeMissingObjects(),
];

export const rightsToFinishRuns = (may: Grants): Permission[] => [
  // An apply's snapshots are deleted once its last state is stored.
  may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  may.key('GenerateDataKey', 'Decrypt'),
  may.onTasks('StopTask', 'DescribeTasks'),
  may.listTasks(),
  // For an interrupted run: the log and the state that its runner did not upload, and the last snapshots of a state,
  // which contain the changes to the state before.
  may.readObjects('runs', 'states', 'uploads'),
  may.writeObjects('runs', 'states'),
  may.seeMissingObjects(),
  may.notify(),
];

export const rightsToBeginRuns = (may: Grants): Permission[] => [
  may.key('GenerateDataKey', 'Decrypt'),
  // If no function processed an upload, the first run that needs the configuration processes it.
  may.readObjects('configurations', 'policies', 'uploads'),
  may.writeObjects('configurations', 'inputs', 'policies'),
  may.seeMissingObjects(),
  may.startExecutions(),
];

export const rightsToCreateRuns = (may: Grants): Permission[] => [
  // A rejected creation releases its place in the queue and starts a run that waits behind it.
  may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  ...rightsToBeginRuns(may),
  may.answerExecutions(),
];
