/**
 * The lifecycle as pure decisions: the state after a finished step, and the result that resumes a waiting execution.
 * The state machine only executes them. No clock, no AWS. States: machine-states.ts.
 */
import { awaitsConfiguration, hasOpenStage, nextCheck } from './checks.ts';
import { type aliases, type Ending, type RunState, takesQueue } from './machine-states.ts';
import type { PhaseName, Run } from './run.ts';
import { statuses } from './status.ts';

/** The result with which a waiting execution resumes: facts for a Choice, or a named error for a Catch. */
export type Resume = { output: Record<string, unknown> } | { error: ResumeError; cause: string };

/** Errors that end a waiting state. */
export const resumeErrors = ['Canceled', 'Discarded', 'TerraformFailed', 'ConfigurationFailed'] as const;
export type ResumeError = (typeof resumeErrors)[number];

/** States that a Choice can lead to. */
export type Next = Extract<
  RunState | Ending | keyof typeof aliases,
  | 'Pending'
  | 'Fetching'
  | 'PrePlanTasks'
  | 'PlanAwaitingSlot'
  | 'PlanQueued'
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
  | 'NeedsConfirmation'
  | 'PreApplyTasks'
  | 'NeedsConfirmationAfterTasks'
  | 'ApplyAwaitingSlot'
  | 'ApplyQueued'
  | 'Applying'
  | 'PostApplyTasks'
  | 'Applied'
>;

/** Whether the finished plan is applied without a confirmation: auto-apply is on, and the run's authors may apply. */
const appliesAutomatically = (run: Run): boolean => {
  const { planOnly, savePlan, appliesFor, environment, plan, autoApply, allowEmptyApply } = run;
  // Permission to build an environment includes permission to apply its runs.
  const isAllowed = appliesFor !== undefined || environment !== undefined;
  return !planOnly && !savePlan && isAllowed && (plan.report?.hasChanges ? autoApply : allowEmptyApply);
};

/** The next state of a run without a plan. */
const nextBeforePlan = (run: Run): 'Pending' | 'Fetching' | 'PrePlanTasks' | 'PlanAwaitingSlot' | 'PlanQueued' => {
  if (!run.current && takesQueue(run)) return 'Pending';
  if (awaitsConfiguration(run)) return 'Fetching';
  if (hasOpenStage(run, 'pre_plan')) return 'PrePlanTasks';
  return run.limited && run.slot !== 'plan' ? 'PlanAwaitingSlot' : 'PlanQueued';
};

/**
 * The first state of a new run. Pending precedes run tasks even if no other run is in the queue, because it sends the
 * notifications of a new run, as Fetching, PlanAwaitingSlot and PlanQueued do when they are first.
 */
export const firstState = (run: Run): 'Pending' | 'Fetching' | 'PlanAwaitingSlot' | 'PlanQueued' => {
  const next = nextBeforePlan(run);
  return next === 'PrePlanTasks' ? 'Pending' : next;
};

/** The next state before an apply that was confirmed, or needs no confirmation. */
const nextBeforeApply = (run: Run): 'PreApplyTasks' | 'ApplyAwaitingSlot' | 'ApplyQueued' => {
  if (hasOpenStage(run, 'pre_apply')) return 'PreApplyTasks';
  return run.limited && run.slot !== 'apply' ? 'ApplyAwaitingSlot' : 'ApplyQueued';
};

/** Whether only a runner is missing for the apply. */
const isApply = (next: Next): boolean => next === 'ApplyAwaitingSlot' || next === 'ApplyQueued';

/** The state after a step of the run that has just been recorded. */
export const nextStep = (run: Run): Next => {
  const { verdicts = {} } = run;
  if (run.apply.report) return hasOpenStage(run, 'post_apply') ? 'PostApplyTasks' : 'Applied';
  if (run.cancel) return 'Canceled';
  if (verdicts.pre_plan === 'failed' || verdicts.pre_apply === 'failed') return 'PlanErrored';
  if (!run.plan.report) return nextBeforePlan(run);
  const check = nextCheck(run);
  if (check) return check;
  if (run.planOnly) return 'PlannedAndFinished';
  // If empty applies are allowed, they need permission to apply, but not auto-apply.
  if (!run.plan.report?.hasChanges && (!run.allowEmptyApply || run.savePlan)) return 'PlannedAndFinished';
  if (run.decision?.action === 'apply' || appliesAutomatically(run)) return nextBeforeApply(run);
  if (run.savePlan) return 'PlannedAndSaved';
  return verdicts.pre_apply ? 'NeedsConfirmationAfterTasks' : 'NeedsConfirmation';
};

/** Whether the run is about to pass its confirmation by auto-apply. */
export const passesConfirmation = (run: Run): boolean => {
  if (run.decision || run.status === 'apply_queued' || run.plan.report?.outcome !== 'finished') return false;
  const next = nextStep(run);
  return next === 'PreApplyTasks' || isApply(next);
};

/** Whether the run can apply once all checks have passed, so that the plan's runner stays ready. */
export const mayApply = (run: Run): boolean => {
  if (run.cancel || run.planOnly || run.plan.report?.outcome !== 'finished') return false;
  return !!run.plan.report.hasChanges || (run.allowEmptyApply && !run.savePlan);
};

/** Whether the run applies its reported plan without any further wait, so that the plan's runner can be reserved. */
export const appliesNext = (run: Run): boolean =>
  run.wait?.state === 'Planning' &&
  run.status === 'planning' &&
  !run.decision &&
  mayApply(run) &&
  isApply(nextStep(run));

/** Whether the plan's runner is reserved for the apply, and has not claimed it. */
export const isReserved = ({ plan, apply }: Run): boolean =>
  plan.ready !== undefined && apply.claimHash === plan.ready.keyHash && !apply.claimNonce;

/** Whether the apply was reserved with the plan's report, so that the run is ahead of the machine's state. */
export const isAhead = (state: RunState, run: Run): boolean => state === 'Planning' && run.status === 'apply_queued';

const canceled = (run: Run): Resume => ({ error: 'Canceled', cause: `canceled by ${run.cancel?.by ?? 'the runner'}` });
const discarded = (run: Run): Resume => ({
  error: 'Discarded',
  cause: run.decision?.reason ?? `discarded by ${run.decision?.by}`,
});

/** Reason to stop a running phase: a cancel, or a discard that was accepted just before the plan began. */
const stopped = (run: Run): Resume | undefined => {
  if (run.cancel) return canceled(run);
  return run.decision?.action === 'discard' ? discarded(run) : undefined;
};

/** Whether Terraform must be interrupted. */
export const isStopped = (run: Run): boolean => stopped(run) !== undefined;

const afterPhase = (run: Run, phase: PhaseName): Resume | undefined => {
  const report = run[phase].report;
  if (!report) return undefined;
  // A plan that finished despite a cancel changed nothing; an apply that finished did all its work.
  const stop = stopped(run);
  if (stop && (phase === 'plan' || report.outcome === 'canceled')) return stop;
  if (report.outcome === 'canceled') return canceled(run);
  if (report.outcome === 'errored') {
    return { error: 'TerraformFailed', cause: report.message ?? `terraform ${phase} failed` };
  }
  return { output: { next: nextStep(run) } };
};

/** Reason to leave a state on entry, without doing its work. */
export const exitOnEntry = (state: RunState, run: Run): Resume | undefined => {
  const forPlan = state === 'PlanAwaitingSlot' || state === 'PlanQueued';
  const forApply = state === 'ApplyAwaitingSlot' || state === 'ApplyQueued';
  const isNew = (forPlan && run.status === 'pending') || (forApply && run.status !== 'apply_queued');
  return isNew ? stopped(run) : undefined;
};

const guarded: readonly RunState[] = ['PlanAwaitingSlot', 'PlanQueued', 'ApplyAwaitingSlot', 'ApplyQueued'];

/**
 * Guards every plan and every apply, on any path of the machine: a plan starts only when the queue reaches the run, an
 * apply only after a confirmation or by auto-apply, and both only after the run tasks that precede them.
 */
export const mayEnter = (state: RunState, run: Run): boolean => {
  return !guarded.includes(state) || isStopped(run) || nextStep(run) === state;
};

/**
 * The result with which the run's waiting execution resumes; undefined while it has to wait. Every change of a run
 * evaluates this on the changed item, so the task token and the event that resumes the execution can arrive in any order.
 */
export const resume = (run: Run): Resume | undefined => {
  const state = run.wait?.state as RunState | undefined;
  const away = state && exitOnEntry(state, run);
  if (away) return away;
  switch (state) {
    case 'Pending':
      if (isStopped(run)) return stopped(run);
      return run.current || !takesQueue(run) ? { output: { next: nextBeforePlan(run) } } : undefined;
    case 'Fetching':
      if (isStopped(run)) return stopped(run);
      if (run.verdicts?.fetching === 'failed') return { error: 'ConfigurationFailed', cause: run.failure ?? '' };
      return run.verdicts?.fetching ? { output: { next: nextBeforePlan(run) } } : undefined;
    case 'PrePlanTasks':
    case 'PostPlanTasks':
    case 'PreApplyTasks':
    case 'PostApplyTasks':
      return run.cancel ? canceled(run) : undefined;
    case 'PlanAwaitingSlot':
      if (isStopped(run)) return stopped(run);
      return run.slot === 'plan' ? { output: {} } : undefined;
    case 'PlanQueued':
      if (isStopped(run)) return stopped(run);
      if (run.plan.report) return afterPhase(run, 'plan');
      return run.plan.claimNonce ? { output: {} } : undefined;
    case 'Planning':
      if (run.apply.claimNonce) return { output: { next: 'Applying' satisfies Next } };
      return isReserved(run) && !isStopped(run) ? undefined : afterPhase(run, 'plan');
    case 'PostPlanAwaitingDecision':
    case 'PolicyOverride': {
      // Here and below: the stop was accepted after this state had been selected, but before it was entered.
      if (isStopped(run)) return stopped(run);
      const override = statuses[run.status].overrides;
      return override && run.overrides?.[override] ? { output: { next: nextStep(run) } } : undefined;
    }
    case 'NeedsConfirmation':
    case 'PlannedAndSaved':
      if (isStopped(run)) return stopped(run);
      return run.decision ? { output: { next: nextBeforeApply(run) } } : undefined;
    case 'Confirmed':
      if (isStopped(run)) return stopped(run);
      return run.current ? { output: { next: nextBeforeApply(run) } } : undefined;
    case 'ApplyAwaitingSlot':
      if (run.cancel) return canceled(run);
      return run.slot === 'apply' ? { output: {} } : undefined;
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

const resting = [
  'PlannedAndFinished',
  'PlannedAndSaved',
  'NeedsConfirmation',
  'PreApplyTasks',
  'ApplyAwaitingSlot',
  'ApplyQueued',
] as const satisfies Next[];

/** States that may follow each step of a run. No step leads to an earlier state. */
export const nextStates = {
  Creation: ['Pending', 'Fetching', 'PlanAwaitingSlot', 'PlanQueued'],
  Pending: ['Fetching', 'PrePlanTasks', 'PlanAwaitingSlot', 'PlanQueued'],
  Fetching: ['PrePlanTasks', 'PlanAwaitingSlot', 'PlanQueued'],
  PrePlanTasks: ['PlanAwaitingSlot', 'PlanQueued', 'PlanErrored', 'Canceled'],
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
  Confirmation: ['PreApplyTasks', 'ApplyAwaitingSlot', 'ApplyQueued'],
  PreApplyTasks: ['NeedsConfirmationAfterTasks', 'ApplyAwaitingSlot', 'ApplyQueued', 'PlanErrored', 'Canceled'],
  ConfirmationAfterTasks: ['ApplyAwaitingSlot', 'ApplyQueued'],
  Applying: ['PostApplyTasks', 'Applied'],
} as const satisfies Record<string, readonly Next[]>;
