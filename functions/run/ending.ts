import type { PhaseName, Run } from './run.ts';
import { type Ending, endings } from './states.ts';
import type { PhaseStatus } from './status.ts';

/** How a run ends: why, and what becomes of its plan and apply. Pure. */

/** What Step Functions caught, e.g. `{Error: 'States.HeartbeatTimeout', Cause: ''}`. */
export interface CaughtError {
  Error: string;
  Cause?: string;
}

/** Why a run ended so, in plain words; undefined when its status says it all. */
export const endReason = (run: Run, ending: Ending, error: CaughtError | undefined): string | undefined => {
  const doing = run.apply.status === 'pending' ? 'plan' : 'apply';
  if (ending === 'Discarded' && run.decision?.reason) return run.decision.reason;
  if (ending === 'Discarded' && error?.Error === 'States.Timeout') return 'Nobody confirmed the plan in time.';
  if (ending === 'PolicySoftFailed' || (ending === 'PlanErrored' && !error)) return run.failure;
  if (endings[ending] !== 'errored' || !error) return undefined;
  switch (error.Error) {
    case 'TerraformFailed':
    case 'TaskStageFailed':
    case 'ConfigurationFailed':
      return error.Cause;
    case 'States.HeartbeatTimeout':
      return `The runner stopped answering during the ${doing}, so it was taken out of service. ${stateNote(run)}`;
    case 'States.Timeout':
      return run.status === 'plan_queued' || run.status === 'apply_queued'
        ? `No runner could be started for the ${doing} in time. Queue a new run.`
        : `The ${doing} took longer than its time limit and was stopped. ${stateNote(run)}`;
    case 'ExecutionStopped':
      return `${error.Cause} ${stateNote(run)}`;
    default:
      return `The platform could not carry the run on (${error.Error}). Queue a new run; if it happens again, tell the operator of this platform. ${stateNote(run)}`;
  }
};

export const stateNote = (run: Run): string =>
  run.apply.status === 'running' || run.apply.status === 'errored'
    ? 'Everything Terraform had recorded and the runner had uploaded by then is in the workspace’s state; check the last changes before you apply again.'
    : 'The state is unchanged.';

/** Statuses of plan and apply once the run is over. */
export const finalPhases = (run: Run, ending: Ending): { plan: PhaseStatus; apply: PhaseStatus } => {
  const settle = (phase: PhaseName): PhaseStatus => {
    const { status, report } = run[phase];
    if (report && status !== 'pending') return report.outcome;
    if (status === 'pending') return 'unreachable';
    if (status === 'queued' || status === 'running') return endings[ending] === 'canceled' ? 'canceled' : 'errored';
    return status;
  };
  return { plan: settle('plan'), apply: settle('apply') };
};
