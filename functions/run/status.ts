/**
 * The one table of run statuses, as the API spells them (HCP API: runs), in the order of the lifecycle. Everything that
 * depends on a status is a column: allowed actions, display, notifications. A new status is a new row, and the compiler
 * reports each missing cell.
 */

/** Users' actions on a run, as in their routes (actions.ts). */
export type RunAction = 'apply' | 'override' | 'force-execute' | 'discard' | 'cancel' | 'force-cancel';

/** Actions with a route of the run; overrides belong to policy checks and task stages. */
export type DirectAction = Exclude<RunAction, 'override'>;

/** A status's meaning for users: `attention` waits for a user, `running` continues by itself. */
export type Tone = 'waiting' | 'running' | 'attention' | 'good' | 'bad' | 'neutral';

/** What the run waits for: a user's confirmation or override, a worker, or nothing. */
export type WaitReason =
  | 'turn'
  | 'upload'
  | 'run tasks'
  | 'runner'
  | 'policies'
  | 'cost estimate'
  | 'override'
  | 'confirmation'
  | 'nothing';

/** Failed policies that can be overridden. */
export type Overridable = 'policyEvaluation' | 'policyCheck';

/** Stages in the progress line of a run. */
export type StageName =
  | 'Pending'
  | 'Fetching'
  | 'Pre-plan'
  | 'Plan'
  | 'Post-plan'
  | 'Cost estimate'
  | 'Policy check'
  | 'Confirmation'
  | 'Pre-apply'
  | 'Apply'
  | 'Post-apply';

/** Triggers of notifications (HCP API: notification configurations). */
export type RunTrigger =
  | 'run:created'
  | 'run:planning'
  | 'run:needs_attention'
  | 'run:applying'
  | 'run:completed'
  | 'run:errored';

interface Row {
  label: string;
  tone: Tone;
  /** Outcome of a run that ends in this status and never changes again. False: not final. */
  final: false | 'done' | 'failed' | 'stopped';
  waitsFor: WaitReason;
  /** Accepted actions, unless a decision excludes them (actions.ts). `force-cancel` depends on no status. */
  actions: readonly RunAction[];
  /** Which policies the action `override` overrides. */
  overrides: Overridable | null;
  /** Stage in the progress line to which the timestamp belongs. */
  stage: StageName | null;
  /** The key in `status-timestamps`; stamped once. */
  timestamp: `${string}-at`;
  /** The notification on entering this status (its text: notifications/run.ts). */
  notifies: RunTrigger | null;
  /** The pending status of the run's commit; null: plan and checks are complete, and their result is shown. */
  commit: string | null;
  /** Whether a run in this status becomes its workspace's current run when the queue reaches it. */
  holdsWorkspace: boolean;
}

const cancel = ['cancel'] as const;
const confirm = ['apply', 'discard'] as const;
const override = ['override', 'discard'] as const;

const waitsForOverride = 'A policy failed: waits for an override';

const rowOf = {
  running: { tone: 'running', final: false, actions: cancel, overrides: null, notifies: null, holdsWorkspace: true },

  confirming: {
    tone: 'attention',
    final: false,
    waitsFor: 'confirmation',
    actions: confirm,
    overrides: null,
    stage: 'Confirmation',
    notifies: 'run:needs_attention',
    commit: 'Checking the plan',
    holdsWorkspace: true,
  },
  over: { waitsFor: 'nothing', actions: [], overrides: null, stage: null, holdsWorkspace: false, commit: null },
} as const satisfies Record<string, Partial<Row>>;
const { running, confirming, over } = rowOf;

// biome-ignore format: one row per status
const table = {
  pending: { ...running, label: 'Pending', tone: 'waiting', waitsFor: 'turn', actions: ['force-execute', 'discard', 'cancel'], stage: 'Pending', timestamp: 'plan-queueable-at', holdsWorkspace: false, notifies: 'run:created', commit: 'Waiting for its turn' },
  fetching: { ...running, label: 'Fetching', waitsFor: 'upload', stage: 'Fetching', timestamp: 'fetching-at', commit: 'Fetching the commit' },
  fetching_completed: { ...running, label: 'Fetching', waitsFor: 'nothing', stage: 'Fetching', timestamp: 'fetched-at', commit: 'Waiting for its turn' },
  pre_plan_running: { ...running, label: 'Pre-plan running', waitsFor: 'run tasks', stage: 'Pre-plan', timestamp: 'pre-plan-running-at', commit: 'Run tasks are running' },
  pre_plan_completed: { ...running, label: 'Pre-plan completed', waitsFor: 'nothing', stage: 'Pre-plan', timestamp: 'pre-plan-completed-at', commit: 'Waiting for the plan' },
  plan_queued: { ...running, label: 'Plan queued', waitsFor: 'runner', actions: ['discard', 'cancel'], stage: 'Plan', timestamp: 'plan-queued-at', commit: 'Planning' },
  planning: { ...running, label: 'Planning', waitsFor: 'runner', stage: 'Plan', timestamp: 'planning-at', notifies: 'run:planning', commit: 'Planning' },
  planned: { ...confirming, label: 'Planned', timestamp: 'planned-at' },
  post_plan_running: { ...running, label: 'Post-plan running', waitsFor: 'run tasks', stage: 'Post-plan', timestamp: 'post-plan-running-at', commit: 'Run tasks are running' },
  post_plan_awaiting_decision: { ...confirming, label: 'Policy Override', waitsFor: 'override', actions: override, overrides: 'policyEvaluation', stage: 'Post-plan', timestamp: 'post-plan-awaiting-decision-at', commit: waitsForOverride },
  post_plan_completed: { ...confirming, label: 'Post-plan completed', timestamp: 'post-plan-completed-at' },
  cost_estimating: { ...running, label: 'Cost Estimating', waitsFor: 'cost estimate', stage: 'Cost estimate', timestamp: 'cost-estimating-at', commit: 'Estimating costs' },
  cost_estimated: { ...confirming, label: 'Cost Estimated', timestamp: 'cost-estimated-at' },
  policy_checking: { ...running, label: 'Policy Check', waitsFor: 'policies', stage: 'Policy check', timestamp: 'policy-checking-at', commit: 'Checking policies' },
  policy_override: { ...confirming, label: 'Policy Override', waitsFor: 'override', actions: override, overrides: 'policyCheck', stage: 'Policy check', timestamp: 'policy-override-at', commit: waitsForOverride },
  policy_soft_failed: { ...over, label: 'Policy Soft Failed', tone: 'bad', final: 'failed', timestamp: 'policy-soft-failed-at', notifies: null },
  policy_checked: { ...confirming, label: 'Policy Checked', timestamp: 'policy-checked-at' },
  planned_and_saved: { ...confirming, label: 'Planned and Saved', stage: null, timestamp: 'planned-and-saved-at', notifies: null, holdsWorkspace: false, commit: null },
  planned_and_finished: { ...over, label: 'Planned and Finished', tone: 'good', final: 'done', timestamp: 'planned-and-finished-at', notifies: 'run:completed' },
  confirmed: { ...running, label: 'Confirmed', waitsFor: 'turn', stage: null, timestamp: 'confirmed-at', commit: null },
  pre_apply_running: { ...running, label: 'Pre-apply running', waitsFor: 'run tasks', stage: 'Pre-apply', timestamp: 'pre-apply-running-at', commit: null },
  pre_apply_completed: { ...running, label: 'Pre-apply completed', waitsFor: 'nothing', stage: 'Pre-apply', timestamp: 'pre-apply-completed-at', commit: null },
  apply_queued: { ...running, label: 'Apply queued', waitsFor: 'runner', stage: 'Apply', timestamp: 'apply-queued-at', commit: null },
  applying: { ...running, label: 'Applying', waitsFor: 'runner', stage: 'Apply', timestamp: 'applying-at', notifies: 'run:applying', commit: null },
  post_apply_running: { ...running, label: 'Post-apply running', waitsFor: 'run tasks', stage: 'Post-apply', timestamp: 'post-apply-running-at', commit: null },
  post_apply_completed: { ...running, label: 'Post-apply completed', waitsFor: 'nothing', actions: [], stage: 'Post-apply', timestamp: 'post-apply-completed-at', commit: null },
  applied: { ...over, label: 'Applied', tone: 'good', final: 'done', timestamp: 'applied-at', notifies: 'run:completed' },
  discarded: { ...over, label: 'Discarded', tone: 'neutral', final: 'stopped', timestamp: 'discarded-at', notifies: 'run:errored' },
  // The timeline shows whether the plan or the apply errored (display.ts).
  errored: { ...over, label: 'Errored', tone: 'bad', final: 'failed', timestamp: 'errored-at', notifies: 'run:errored' },
  canceled: { ...over, label: 'Canceled', tone: 'neutral', final: 'stopped', timestamp: 'canceled-at', notifies: 'run:errored' },
} as const satisfies Record<string, Row>;

export type RunStatus = keyof typeof table;
export type FinalStatus = { [S in RunStatus]: (typeof table)[S]['final'] extends false ? never : S }[RunStatus];

export const statuses: Readonly<Record<RunStatus, Row>> = table;
export const runStatuses = Object.keys(table) as RunStatus[];

export const isFinal = (status: RunStatus): status is FinalStatus => statuses[status].final !== false;
/** `policy_soft_failed` ends plan-only runs only. */
export const finalStatuses: readonly FinalStatus[] = runStatuses.filter(isFinal);

/** Statuses in which an action is accepted. */
export const statusesFor = (action: RunAction): RunStatus[] =>
  runStatuses.filter((status) => statuses[status].actions.includes(action));

/** Statuses that send a notification. */
export type NotifiedStatus = { [S in RunStatus]: (typeof table)[S]['notifies'] extends null ? never : S }[RunStatus];

/** The key under which a status of a run is stamped, once (HCP API: runs, `status-timestamps`). */
export const timestampKey = (status: RunStatus): string => statuses[status].timestamp;

export const phaseStatuses = [
  'pending',
  'queued',
  'running',
  'finished',
  'errored',
  'canceled',
  'unreachable',
] as const;
/** Status of a plan or an apply (HCP API: plans, applies). */
export type PhaseStatus = (typeof phaseStatuses)[number];

/** `errored` → `errored-at`: the key under which a plan, an apply or a task result stamps its status. */
export const partTimestampKey = (status: string): string => `${status.replaceAll('_', '-')}-at`;

export const isPhaseFinal = (status: PhaseStatus): boolean =>
  status === 'finished' || status === 'errored' || status === 'canceled' || status === 'unreachable';

/** Time as UTC ISO 8601 with milliseconds and `Z`. */
export type Timestamp = string;
