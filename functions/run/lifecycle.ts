/**
 * The lifecycle as pure decisions. The state machine decides when, this decides what: what entering a state means for
 * the run, what resumes a waiting execution, and how a run ends. No clock, no AWS.
 */
import type { PhaseName, PhaseReport, Run, RunOptions } from './run.ts';
import type { FinalStatus, PhaseStatus, RunStatus } from './status.ts';

/** States of the machine in which an execution waits, by task token. Named like the state. */
export const waitingStates = [
  'Pending',
  'PlanQueued',
  'Planning',
  'NeedsConfirmation',
  'PlannedAndSaved',
  'Confirmed',
  'ApplyQueued',
  'Applying',
] as const;
export type WaitingState = (typeof waitingStates)[number];

/** States that end a run, each the one finisher with another status. */
export const endings = {
  Applied: 'applied',
  PlannedAndFinished: 'planned_and_finished',
  PlanErrored: 'errored',
  ApplyErrored: 'errored',
  Discarded: 'discarded',
  Canceled: 'canceled',
} as const satisfies Record<string, FinalStatus>;
export type Ending = keyof typeof endings;

/** Plan-only and unconfirmed saved-plan runs pass the queue and the lock by. */
export const takesQueue = (run: Pick<RunOptions, 'planOnly' | 'savePlan'>): boolean => !run.planOnly && !run.savePlan;

export interface Entry {
  /** Statuses from which the state may be entered; being in `status` already makes the entry a harmless repeat. */
  from: readonly RunStatus[];
  status: RunStatus;
  confirmable: boolean;
  plan?: PhaseStatus;
  apply?: PhaseStatus;
  /** Statuses passed on the way which the timeline shall show too. */
  passed: readonly RunStatus[];
  /** Seconds until the sweep should look, if nothing has happened by then. */
  lookAfterSeconds: number;
}

const hours = 3600;

/** Plan results become visible with the status that follows, in one write, never before (api: runs). */
export const entries: Record<WaitingState, Entry> = {
  Pending: { from: ['pending'], status: 'pending', confirmable: false, passed: [], lookAfterSeconds: 6 * hours },
  PlanQueued: {
    from: ['pending'],
    status: 'plan_queued',
    confirmable: false,
    plan: 'queued',
    passed: [],
    lookAfterSeconds: 1 * hours,
  },
  Planning: {
    from: ['plan_queued'],
    status: 'planning',
    confirmable: false,
    plan: 'running',
    passed: [],
    lookAfterSeconds: 6 * hours,
  },
  NeedsConfirmation: {
    from: ['planning'],
    status: 'planned',
    confirmable: true,
    plan: 'finished',
    passed: [],
    lookAfterSeconds: 6 * hours,
  },
  PlannedAndSaved: {
    from: ['planning'],
    status: 'planned_and_saved',
    confirmable: true,
    plan: 'finished',
    passed: ['planned'],
    lookAfterSeconds: 1 * hours,
  },
  // A confirmed saved plan waits for its turn, which may take as long as people do.
  Confirmed: {
    from: ['confirmed'],
    status: 'confirmed',
    confirmable: false,
    passed: [],
    lookAfterSeconds: 6 * hours,
  },
  ApplyQueued: {
    from: ['planning', 'confirmed'],
    status: 'apply_queued',
    confirmable: false,
    plan: 'finished',
    apply: 'queued',
    passed: ['planned'],
    lookAfterSeconds: 60,
  },
  Applying: {
    from: ['apply_queued'],
    status: 'applying',
    confirmable: false,
    apply: 'running',
    passed: [],
    lookAfterSeconds: 6 * hours,
  },
};

/** What an execution that waits is told: facts for a Choice, or a named error for a Catch. */
export type Resume = { output: Record<string, unknown> } | { error: ResumeError; cause: string };
export type ResumeError = 'Canceled' | 'Discarded' | 'TerraformFailed';

export type AfterPlan = 'confirm' | 'save' | 'apply' | 'finish';

export const afterPlan = (run: RunOptions, report: PhaseReport): AfterPlan => {
  if (run.planOnly) return 'finish';
  // Lifecycle rule 3: an allowed empty apply always applies by itself.
  if (!report.hasChanges) return run.allowEmptyApply && !run.savePlan ? 'apply' : 'finish';
  if (run.savePlan) return 'save';
  return run.autoApply ? 'apply' : 'confirm';
};

const canceled = (run: Run): Resume => ({ error: 'Canceled', cause: `canceled by ${run.cancel?.by ?? 'the runner'}` });
const discarded = (run: Run): Resume => ({
  error: 'Discarded',
  cause: run.decision?.reason ?? `discarded by ${run.decision?.by}`,
});

const afterPhase = (run: Run, phase: PhaseName): Resume | undefined => {
  const report = run[phase].report;
  if (!report) return undefined;
  // A plan that finished although it was to be canceled changed nothing; an apply that finished did all its work.
  if (report.outcome === 'canceled' || (phase === 'plan' && run.cancel)) return canceled(run);
  if (report.outcome === 'errored') {
    return { error: 'TerraformFailed', cause: report.message ?? `terraform ${phase} failed` };
  }
  return { output: phase === 'plan' ? { next: afterPlan(run, report) } : {} };
};

/**
 * What the execution waiting for this run should be told now; undefined while it has to wait. Whoever changes a run
 * asks this of the changed item, so the order in which token and answer arrive does not matter.
 */
export const resume = (run: Run): Resume | undefined => {
  switch (run.wait?.state as WaitingState | undefined) {
    case 'Pending':
      if (run.cancel) return canceled(run);
      if (run.decision?.action === 'discard') return discarded(run);
      return run.current || !takesQueue(run) ? { output: {} } : undefined;
    case 'PlanQueued':
      if (run.cancel) return canceled(run);
      if (run.plan.report) return afterPhase(run, 'plan');
      return run.plan.claimNonce ? { output: {} } : undefined;
    case 'Planning':
      return afterPhase(run, 'plan');
    case 'NeedsConfirmation':
    case 'PlannedAndSaved':
      if (run.decision) return run.decision.action === 'discard' ? discarded(run) : { output: {} };
      return undefined;
    case 'Confirmed':
      if (run.cancel) return canceled(run);
      if (run.decision?.action === 'discard') return discarded(run);
      return run.current ? { output: {} } : undefined;
    case 'ApplyQueued':
      if (run.cancel && !run.apply.claimNonce) return canceled(run);
      if (run.apply.report && !run.apply.claimNonce) return afterPhase(run, 'apply');
      return run.apply.claimNonce ? { output: {} } : undefined;
    case 'Applying':
      return afterPhase(run, 'apply');
    default:
      return undefined;
  }
};

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
  if (endings[ending] !== 'errored' || !error) return undefined;
  switch (error.Error) {
    case 'TerraformFailed':
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

/** Statuses the timeline shows between the last one written and the end. */
export const passedAtEnd = (run: Run, ending: Ending): RunStatus[] =>
  run.status === 'planning' && ending === 'PlannedAndFinished' ? ['planned'] : [];
