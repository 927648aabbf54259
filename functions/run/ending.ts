import type { AppliedChanges } from './apply-progress.ts';
import { type Ending, endings } from './machine-states.ts';
import type { PhaseName, Run } from './run.ts';
import type { FinalStatus, PhaseStatus } from './status.ts';

/** How a run ends: the reason, and the final statuses of its plan and apply. Pure. */

/** Error caught by Step Functions, e.g. `{Error: 'States.HeartbeatTimeout', Cause: ''}`. */
export interface CaughtError {
  Error: string;
  Cause?: string;
}

/**
 * Reason for users; undefined when the status alone explains the end.
 * @param recorded instances of managed resources in the workspace's state, if known
 */
export const endReason = (
  run: Run,
  ending: Ending,
  error: CaughtError | undefined,
  recorded?: number,
): string | undefined => {
  if (ending === 'Discarded' && run.decision?.reason) return run.decision.reason;
  if (ending === 'Discarded' && error?.Error === 'States.Timeout') return 'The plan was not confirmed in time.';
  if (ending === 'PolicySoftFailed' || (ending === 'PlanErrored' && !error)) return run.failure;
  if (endings[ending] === 'canceled')
    return withErroredState(run.apply.report?.stateProblem ?? appliedNote(run) ?? canceledNote(run, recorded), run);
  if (endings[ending] !== 'errored' || !error) return undefined;
  return withErroredState(whyErrored(run, error, recorded), run);
};

/** Adds the action that a user must take before another apply, unless the runner's report contains it. */
const withErroredState = (reason: string | undefined, { unsaved, apply }: Run): string | undefined => {
  if (!unsaved || (apply.report?.unsavedState && reason)) return reason;
  return [reason, leftNote(unsaved)].filter(Boolean).join(' ');
};

const leftNote = (unsaved: NonNullable<Run['unsaved']>): string =>
  unsaved.lost
    ? [changesNote(unsaved.changes), lostNote].filter(Boolean).join(' ')
    : `A newer state (serial ${unsaved.serial}) was saved as this apply's errored state: download it, then push it with ` +
      '"terraform state push". Until then the workspace is locked, so that no resource is created twice.';

const lostNote =
  'The workspace stays locked, so that no resource is created twice. If the runner kept the newest state on its disk ' +
  '(folder unsaved-states), the platform restores it when it finds the file, and an agent sends it when it starts. Otherwise push a state that contains the ' +
  'changes ("terraform state push"), or force-unlock the workspace to continue from the recorded state.';

/** The end reason of a run after the state on its runner's disk was restored to the workspace. */
export const takenInReason = ({ endReason = '' }: Run, serial: number): string =>
  `${endReason.replace(lostNote, '').trim()} The workspace now has the newest state (serial ${serial}), which the runner had kept on its disk.`.trim();

const changesNote = ({ done, open }: AppliedChanges = { done: [], open: [] }): string => {
  const parts = [
    ...(done.length ? [`${done.join(', ')} ${done.length === 1 ? 'was' : 'were'} done`] : []),
    ...(open.length ? [`${open.join(', ')} ${open.length === 1 ? 'was' : 'were'} started but not finished`] : []),
  ];
  return parts.length ? `According to its log, ${parts.join(', and ')}.` : '';
};

/** Errors that end a run although the platform works: of its configuration or runner, a time limit, an operator. */
const expectedErrors = [
  'TerraformFailed',
  'ConfigurationFailed',
  'DataRestored',
  'States.HeartbeatTimeout',
  'States.Timeout',
  'ExecutionStopped',
];

/** Whether the run ended because of the platform: a bug, a missing right, a service that refuses. */
export const isPlatformFault = (ending: Ending, error: CaughtError | undefined): boolean =>
  endings[ending] === 'errored' && error !== undefined && !expectedErrors.includes(error.Error);

const isQueued = ({ status }: Run): boolean => status === 'plan_queued' || status === 'apply_queued';

const whyErrored = (run: Run, error: CaughtError, recorded: number | undefined): string | undefined => {
  const doing = run.apply.status === 'pending' ? 'plan' : 'apply';
  const note = stateNote(run, recorded);
  switch (error.Error) {
    case 'TerraformFailed':
    case 'ConfigurationFailed':
    case 'DataRestored':
      return error.Cause;
    case 'States.HeartbeatTimeout':
      return `The runner stopped answering during the ${doing}, so it was stopped. ${note}`;
    case 'States.Timeout':
      if (run.agentPool && isQueued(run)) {
        return `No agent of pool ${run.agentPool.name} picked up the ${doing} in time. Start one (stepform agent), then start a new run.`;
      }
      return isQueued(run)
        ? `No runner could be started for the ${doing} in time. Start a new run.`
        : `The ${doing} took longer than its time limit and was stopped. ${note}`;
    case 'CapacityUnavailableError':
      return `${error.Cause ?? 'The container could not be started.'} Start a new run when there is capacity.`;
    case 'ExecutionStopped':
      return `${error.Cause} ${note}`;
    default:
      return `The platform failed to continue the run (${error.Error}). Start a new run; if it keeps failing, tell the operator of this platform. ${note}`;
  }
};

/** Progress of an interrupted apply, and the remedy. */
export const stateNote = (run: Run, recorded?: number): string => {
  const { claimNonce, status } = run.apply;
  if (!claimNonce && status !== 'running' && status !== 'errored') return 'The state is unchanged.';
  const planned = run.plan.report?.resourcesAfter;
  const count = recorded === undefined || planned === undefined ? '' : `: ${recorded} of ${planned} resources recorded`;
  return (
    `The state may be stale${count}. It contains everything that the runner had uploaded by then; ` +
    'compare it with what exists (a refresh-only run) before you apply again.'
  );
};

/** For a run that was canceled during its post-apply run tasks (HCP Terraform: run states). */
const appliedNote = ({ apply }: Run): string | undefined =>
  apply.report?.outcome === 'finished'
    ? 'The apply had finished when the run was canceled. Its changes stay.'
    : undefined;

/** Undefined if no apply was running, or if Terraform stopped cleanly, which only the runner's report can prove. */
const canceledNote = ({ apply, ...run }: Run, recorded?: number): string | undefined => {
  const { status, report } = apply;
  const isInOrder = report && !report.lost && !report.unrecorded;
  return status !== 'running' || isInOrder
    ? undefined
    : `The apply was interrupted. ${stateNote({ ...run, apply }, recorded)}`;
};

/**
 * A run that was canceled or discarded before its apply began gets that status, even if another error ended it
 * meanwhile: nothing was changed, as the user requested.
 */
export const statusAtEnd = (run: Run, ending: Ending): FinalStatus => {
  if (ending !== 'PlanErrored') return endings[ending];
  if (run.cancel) return 'canceled';
  return run.decision?.action === 'discard' ? 'discarded' : 'errored';
};

/** Final statuses of plan and apply. */
export const finalPhases = (run: Run, ending: Ending): { plan: PhaseStatus; apply: PhaseStatus } => {
  const settle = (phase: PhaseName): PhaseStatus => {
    const { status, report } = run[phase];
    if (report && status !== 'pending') return report.outcome;
    if (status === 'pending') return 'unreachable';
    if (status === 'queued' || status === 'running')
      return statusAtEnd(run, ending) === 'canceled' ? 'canceled' : 'errored';
    return status;
  };
  return { plan: settle('plan'), apply: settle('apply') };
};
