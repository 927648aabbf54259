/**
 * The lifecycle as pure decisions. The state machine decides when, this decides what: the state after a finished plan, and
 * what resumes a waiting execution. No clock, no AWS. machine-states.ts has the states.
 */
import { detourBefore, nextCheck } from './checks.ts';
import { type Ending, type RunState, takesQueue } from './machine-states.ts';
import type { PhaseName, Run } from './run.ts';
import { statuses } from './status.ts';

/** What resumes a waiting execution: facts for a Choice, or a named error for a Catch. */
export type Resume = { output: Record<string, unknown> } | { error: ResumeError; cause: string };

/** Errors that leave a waiting state: for an ending, or for a state that comes first. */
export const resumeErrors = [
  'Canceled',
  'Discarded',
  'TerraformFailed',
  'ConfigurationFailed',
  'TaskStageFailed',
  'Pending',
  'Fetching',
  'PrePlanTasks',
  'PreApplyTasks',
  'PostApplyTasks',
  'NeedsConfirmation',
] as const;
export type ResumeError = (typeof resumeErrors)[number];

/** States that a finished plan, or a check of it, may lead to. */
export type Next = Extract<
  RunState | Ending,
  | 'PostPlanTasks'
  | 'PolicyEvaluating'
  | 'PostPlanAwaitingDecision'
  | 'CostEstimating'
  | 'PolicyChecking'
  | 'PolicyOverride'
  | 'PlanErrored'
  | 'PolicySoftFailed'
  | 'Canceled'
  | 'PlannedAndFinished'
  | 'PlannedAndSaved'
  | 'ApplyQueued'
  | 'Applying'
  | 'NeedsConfirmation'
>;

/** Whether the finished plan is applied without a confirmation: auto-apply is on, and the run's authors may apply. */
export const appliesAutomatically = (run: Run): boolean => {
  const { planOnly, savePlan, appliesFor, environment, plan, autoApply, allowEmptyApply } = run;
  // Whoever may build an environment may apply its runs.
  const isAllowed = appliesFor !== undefined || environment !== undefined;
  return !planOnly && !savePlan && isAllowed && (plan.report?.hasChanges ? autoApply : allowEmptyApply);
};

/** The state after a finished plan: the next check, and after the last one a confirmation or the apply. */
export const nextStep = (run: Run): Next => {
  if (run.cancel) return 'Canceled';
  const check = nextCheck(run);
  if (check) return check;
  if (run.planOnly) return 'PlannedAndFinished';
  // An empty apply that is allowed needs no auto-apply, only the permission.
  if (!run.plan.report?.hasChanges && (!run.allowEmptyApply || run.savePlan)) return 'PlannedAndFinished';
  if (run.savePlan) return 'PlannedAndSaved';
  return appliesAutomatically(run) ? 'ApplyQueued' : 'NeedsConfirmation';
};

/** Whether the run may apply once all checks have passed, so that the runner should stand by. */
export const mayApply = (run: Run): boolean => {
  if (run.cancel || run.planOnly || run.plan.report?.outcome !== 'finished') return false;
  return !!run.plan.report.hasChanges || (run.allowEmptyApply && !run.savePlan);
};

/** Whether the machine is about to apply with nothing left to wait for. */
export const isAboutToApply = (run: Run): boolean => {
  const state = run.wait?.state;
  if (state === 'ApplyQueued') return !exitOnEntry(state, run);
  if (state === 'NeedsConfirmation') return run.decision?.action === 'apply';
  return state === 'Planning' && mayApply(run) && nextStep(run) === 'ApplyQueued';
};

/**
 * Whether the runner that reports the plan may take the apply with it: nothing is left to wait for, and the execution
 * knows the way from Planning to Applying. One that was started by a former version does not.
 */
export const handsOver = (run: Run): boolean => {
  const { wait, status, decision, plan, apply } = run;
  if (wait?.state !== 'Planning' || !wait.handsOver || status !== 'planning' || decision) return false;
  if (!plan.taskArn || apply.claimHash || apply.claimNonce || !mayApply(run)) return false;
  return nextStep(run) === 'ApplyQueued' && !exitOnEntry('ApplyQueued', run);
};

/** The runner of the plan has the apply already ({@link handsOver}). */
export const isHandedOver = (state: RunState, run: Run): boolean =>
  state === 'Planning' && run.apply.claimNonce !== undefined;

const canceled = (run: Run): Resume => ({ error: 'Canceled', cause: `canceled by ${run.cancel?.by ?? 'the runner'}` });
const discarded = (run: Run): Resume => ({
  error: 'Discarded',
  cause: run.decision?.reason ?? `discarded by ${run.decision?.by}`,
});

/** Why a running phase is to stop: a cancel, or a discard that was accepted just before the plan began. */
const stopped = (run: Run): Resume | undefined => {
  if (run.cancel) return canceled(run);
  return run.decision?.action === 'discard' ? discarded(run) : undefined;
};

/** Whether Terraform is to be interrupted. */
export const isStopped = (run: Run): boolean => stopped(run) !== undefined;

const afterPhase = (run: Run, phase: PhaseName): Resume | undefined => {
  const report = run[phase].report;
  if (!report) return undefined;
  // A plan that finished although it was to be canceled changed nothing; an apply that finished did all its work.
  const stop = stopped(run);
  if (stop && (phase === 'plan' || report.outcome === 'canceled')) return stop;
  if (report.outcome === 'canceled') return canceled(run);
  if (report.outcome === 'errored') {
    return { error: 'TerraformFailed', cause: report.message ?? `terraform ${phase} failed` };
  }
  return { output: phase === 'plan' ? { next: nextStep(run) } : {} };
};

/**
 * Guards every apply: it needs a confirmation, or automatic apply. A discard may have been accepted while the machine was on
 * its way here.
 */
const withoutPermission = (run: Run): Resume | undefined => {
  if (run.decision?.action === 'discard') return discarded(run);
  if (run.decision?.action === 'apply' || appliesAutomatically(run)) return undefined;
  if (run.cancel) return canceled(run);
  return { error: 'NeedsConfirmation', cause: 'a user with permission to apply runs must confirm it' };
};

/** A run that was stopped before it began, or has to wait for its turn first. */
const beforeTurn = (run: Run): Resume | undefined => {
  if (run.cancel) return canceled(run);
  if (run.decision?.action === 'discard') return discarded(run);
  if (run.current || !takesQueue(run)) return undefined;
  return { error: 'Pending', cause: 'other runs of the workspace come first' };
};

/** Why a state is left at once, without work: another state comes first, or a check has failed. */
export const exitOnEntry = (state: RunState, run: Run): Resume | undefined => {
  if (isHandedOver(state, run)) return { output: { next: 'Applying' satisfies Next } };
  if (state !== 'PlanQueued' && state !== 'ApplyQueued') return undefined;
  const { verdicts = {}, failure = '' } = run;
  const early = state === 'PlanQueued' && run.status === 'pending' ? beforeTurn(run) : undefined;
  if (early) return early;
  if (verdicts[state === 'PlanQueued' ? 'pre_plan' : 'pre_apply'] === 'failed') {
    return { error: 'TaskStageFailed', cause: failure };
  }
  if (state === 'ApplyQueued' && run.status !== 'apply_queued') {
    const refused = withoutPermission(run);
    if (refused) return refused;
  }
  const detour = detourBefore(state, run);
  if (!detour) return undefined;
  if (run.cancel) return canceled(run);
  return {
    error: detour,
    cause: detour === 'Fetching' ? 'the configuration has not been uploaded yet' : 'run tasks come first',
  };
};

/**
 * What resumes the run's waiting execution now; undefined while it has to wait. Every change of a run evaluates this on the
 * changed item, so the order in which token and answer arrive does not matter.
 */
export const resume = (run: Run): Resume | undefined => {
  const state = run.wait?.state as RunState | undefined;
  const away = state && exitOnEntry(state, run);
  if (away) return away;
  switch (state) {
    case 'Pending':
      if (run.cancel) return canceled(run);
      if (run.decision?.action === 'discard') return discarded(run);
      return run.current || !takesQueue(run) ? { output: {} } : undefined;
    case 'Fetching':
      if (run.cancel) return canceled(run);
      if (run.verdicts?.fetching === 'failed') return { error: 'ConfigurationFailed', cause: run.failure ?? '' };
      return run.verdicts?.fetching ? { output: {} } : undefined;
    case 'PrePlanTasks':
    case 'PostPlanTasks':
    case 'PreApplyTasks':
    case 'PostApplyTasks':
      return run.cancel ? canceled(run) : undefined;
    case 'PlanQueued': {
      const stop = stopped(run);
      if (stop) return stop;
      if (run.plan.report) return afterPhase(run, 'plan');
      return run.plan.claimNonce ? { output: {} } : undefined;
    }
    case 'Planning':
      return afterPhase(run, 'plan');
    case 'PostPlanAwaitingDecision':
    case 'PolicyOverride': {
      // Accepted before this state was entered, after the next state had been decided; so below.
      if (run.cancel) return canceled(run);
      if (run.decision?.action === 'discard') return discarded(run);
      const override = statuses[run.status].overrides;
      return override && run.overrides?.[override] ? { output: { next: nextStep(run) } } : undefined;
    }
    case 'NeedsConfirmation':
    case 'PlannedAndSaved':
      if (run.cancel) return canceled(run);
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

const resting = ['PlannedAndFinished', 'PlannedAndSaved', 'NeedsConfirmation', 'ApplyQueued'] as const satisfies Next[];

/** States that may follow a plan or a check. Each list is in the order of the lifecycle and never leads back. */
export const nextStates = {
  Planning: ['PostPlanTasks', 'PolicyEvaluating', 'CostEstimating', 'PolicyChecking', ...resting, 'Applying'],
  PostPlanTasks: ['PolicyEvaluating', 'CostEstimating', 'PolicyChecking', ...resting, 'PlanErrored', 'Canceled'],
  PolicyEvaluating: [
    'PostPlanAwaitingDecision',
    'CostEstimating',
    'PolicyChecking',
    ...resting,
    'PlanErrored',
    'Canceled',
  ],
  PostPlanAwaitingDecision: ['CostEstimating', 'PolicyChecking', ...resting],
  CostEstimating: ['PolicyChecking', ...resting, 'Canceled'],
  PolicyChecking: ['PolicyOverride', ...resting, 'PolicySoftFailed', 'PlanErrored', 'Canceled'],
  PolicyOverride: resting,
} as const satisfies Record<string, readonly Next[]>;
