import { taskStages } from './check-record.ts';
import { nextCheck } from './checks.ts';
import type { Run } from './run.ts';

/** Which step failed a run whose Terraform did not fail. Pure. */

export type FailedStep = 'configuration not fetched' | 'not planned' | 'run task' | 'policy check';

/** Undefined if the run did not fail, or failed in its plan or apply. */
export const failedStep = (run: Run): FailedStep | undefined => {
  const { status, statusTimestamps, verdicts = {} } = run;
  if (status !== 'errored' && status !== 'policy_soft_failed') return undefined;
  if (verdicts.fetching === 'failed') return 'configuration not fetched';
  if (taskStages.some((stage) => verdicts[stage] === 'failed')) return 'run task';
  const after = nextCheck(run);
  if (after === 'PlanErrored' || after === 'PolicySoftFailed') return 'policy check';
  return 'planning-at' in statusTimestamps ? undefined : 'not planned';
};

/** {@link failedStep} with the names of run tasks, for users who can read the run. */
export const failedStepOf = (run: Run): string | undefined => {
  const step = failedStep(run);
  if (step !== 'run task' || !run.failedTasks?.length) return step;
  return `run task${run.failedTasks.length === 1 ? '' : 's'} ${run.failedTasks.join(', ')}`;
};
