import type { TaskStage } from './check-record.ts';
import { completed, restingStatus } from './checks.ts';
import type { Run } from './run.ts';
import type { FinalStatus, PhaseStatus, RunStatus } from './status.ts';

/** The states of the machine, and the effect of each on the run when it is entered. Pure. */

/** States in which an execution waits, by a task token stored on the run. Named like the state. */
export const waitingStates = [
  'Pending',
  'Fetching',
  'PlanAwaitingSlot',
  'PlanQueued',
  'Planning',
  'PostPlanAwaitingDecision',
  'PolicyOverride',
  'NeedsConfirmation',
  'PlannedAndSaved',
  'Confirmed',
  'ApplyAwaitingSlot',
  'ApplyQueued',
  'Applying',
] as const;
export type WaitingState = (typeof waitingStates)[number];

/** States of the machine that the run treats as another state, with the same function and the same status. */
export const aliases = {
  NeedsConfirmationAfterTasks: 'NeedsConfirmation',
} as const satisfies Record<string, WaitingState>;

/** States that only wait, for a runner's report or a person: one function enters all of them. */
export const plainStates = [
  'Planning',
  'PostPlanAwaitingDecision',
  'PolicyOverride',
  'NeedsConfirmation',
  'Applying',
] as const satisfies WaitingState[];
export type PlainState = (typeof plainStates)[number];

/**
 * The run's state for a state of the machine (see {@link aliases}). @throws {Error} unless it is one of {@link
 * plainStates}
 */
export const plainState = (name: string): PlainState => {
  const own = (aliases as Record<string, WaitingState>)[name] ?? name;
  const state = plainStates.find((plain) => plain === own);
  if (!state) throw new Error(`state ${name} is not a state that only waits`);
  return state;
};

/** States that run a stage's tasks side by side; each task waits by a token kept with its result. */
export const taskStates = {
  PrePlanTasks: 'pre_plan',
  PostPlanTasks: 'post_plan',
  PreApplyTasks: 'pre_apply',
  PostApplyTasks: 'post_apply',
} as const satisfies Record<string, TaskStage>;
export type TaskState = keyof typeof taskStates;

/** States whose function does the work itself. */
export const checkStates = ['PolicyEvaluating', 'CostEstimating', 'PolicyChecking'] as const;
export type CheckState = (typeof checkStates)[number];

/** States that end a run: the same finisher with different statuses. */
export const endings = {
  Applied: 'applied',
  PlannedAndFinished: 'planned_and_finished',
  PlanErrored: 'errored',
  PolicySoftFailed: 'policy_soft_failed',
  ApplyErrored: 'errored',
  Discarded: 'discarded',
  Canceled: 'canceled',
} as const satisfies Record<string, FinalStatus>;
export type Ending = keyof typeof endings;

/** Result of the finisher when other runs follow: the apply triggers them, or an environment is started again. */
export const startsRuns = 'StartsRuns';

/** Plan-only and unconfirmed saved-plan runs bypass the queue and the lock. */
export const takesQueue = (run: Pick<Run, 'planOnly' | 'savePlan'>): boolean => !run.planOnly && !run.savePlan;

export type RunState = WaitingState | TaskState | CheckState;

export interface Entry {
  /** Statuses from which the state can be entered. Entering it again in `status` is a harmless repeat. */
  from: readonly RunStatus[];
  status: RunStatus;
  plan?: PhaseStatus;
  apply?: PhaseStatus;
  /** Statuses completed before this state, which the timeline also shows. */
  passed: readonly RunStatus[];
  /** Seconds until the sweep checks the run, unless something happens first. */
  lookAfterSeconds: number;
}

const minutes = 60;
const hours = 3600;

const beforePlan = ['pending', 'fetching', 'pre_plan_running'] as const satisfies RunStatus[];
/** Statuses of a finished plan until it waits for a confirmation, or continues. */
const checking = [
  'planning',
  'post_plan_running',
  'post_plan_awaiting_decision',
  'cost_estimating',
  'policy_checking',
  'policy_override',
] as const satisfies RunStatus[];

type Settings = Omit<Entry, 'passed' | 'status'> & { status: RunStatus | ((run: Run) => RunStatus) };

/** Plan results become visible in the same write as the status that follows, never before. */
const settings: Record<RunState, Settings> = {
  Pending: { from: ['pending'], status: 'pending', lookAfterSeconds: 1 * hours },
  Fetching: { from: ['pending'], status: 'fetching', lookAfterSeconds: 1 * minutes },
  PrePlanTasks: { from: ['pending', 'fetching'], status: 'pre_plan_running', lookAfterSeconds: 2 * minutes },
  PlanAwaitingSlot: { from: beforePlan, status: 'plan_queued', plan: 'queued', lookAfterSeconds: 5 * minutes },
  PlanQueued: { from: beforePlan, status: 'plan_queued', plan: 'queued', lookAfterSeconds: 1 * minutes },
  Planning: { from: ['plan_queued'], status: 'planning', plan: 'running', lookAfterSeconds: 1 * hours },
  PostPlanTasks: { from: ['planning'], status: 'post_plan_running', plan: 'finished', lookAfterSeconds: 2 * minutes },
  PolicyEvaluating: {
    from: ['planning', 'post_plan_running'],
    status: 'post_plan_running',
    plan: 'finished',
    lookAfterSeconds: 10 * minutes,
  },
  PostPlanAwaitingDecision: {
    from: ['post_plan_running'],
    status: 'post_plan_awaiting_decision',
    lookAfterSeconds: 1 * hours,
  },
  CostEstimating: {
    from: ['planning', 'post_plan_running', 'post_plan_awaiting_decision'],
    status: 'cost_estimating',
    plan: 'finished',
    lookAfterSeconds: 10 * minutes,
  },
  PolicyChecking: {
    from: ['planning', 'post_plan_running', 'post_plan_awaiting_decision', 'cost_estimating'],
    status: 'policy_checking',
    plan: 'finished',
    lookAfterSeconds: 10 * minutes,
  },
  PolicyOverride: { from: ['policy_checking'], status: 'policy_override', lookAfterSeconds: 1 * hours },
  NeedsConfirmation: {
    // A permission to apply can be lost while the pre-apply tasks run.
    from: [...checking, 'pre_apply_running'],
    status: restingStatus,
    plan: 'finished',
    lookAfterSeconds: 1 * hours,
  },
  PlannedAndSaved: {
    from: checking,
    status: 'planned_and_saved',
    plan: 'finished',
    lookAfterSeconds: 1 * hours,
  },
  // A confirmed saved plan waits in the queue until the runs before it are decided.
  Confirmed: { from: ['confirmed'], status: 'confirmed', lookAfterSeconds: 1 * hours },
  PreApplyTasks: {
    from: [...checking, 'confirmed'],
    status: 'pre_apply_running',
    plan: 'finished',
    lookAfterSeconds: 2 * minutes,
  },
  ApplyAwaitingSlot: {
    from: [...checking, 'confirmed', 'pre_apply_running'],
    status: 'apply_queued',
    plan: 'finished',
    apply: 'queued',
    lookAfterSeconds: 5 * minutes,
  },
  ApplyQueued: {
    from: [...checking, 'confirmed', 'pre_apply_running'],
    status: 'apply_queued',
    plan: 'finished',
    apply: 'queued',
    lookAfterSeconds: 1 * minutes,
  },
  Applying: { from: ['apply_queued'], status: 'applying', apply: 'running', lookAfterSeconds: 1 * hours },
  PostApplyTasks: {
    from: ['applying'],
    status: 'post_apply_running',
    apply: 'finished',
    lookAfterSeconds: 2 * minutes,
  },
};

export const entryOf = (state: RunState, run: Run): Entry => {
  const { status, ...rest } = settings[state];
  const entered = typeof status === 'function' ? status(run) : status;
  return { ...rest, status: entered, passed: completed(run).filter((status) => status !== entered) };
};
