import type { Run } from './run.ts';
import { isFinal, type Overridable, type RunAction, type RunStatus, statuses, type Timestamp } from './status.ts';

/** A user's action as the run records it. */
interface Recorded {
  by?: string;
  at: Timestamp;
}

export interface Actor {
  by: string;
  at: Timestamp;
  /** {@link forceCancelCoolOffSeconds} after `at`. */
  coolOffEnd: Timestamp;
  comment?: string;
  /** For an override: the failed policies. */
  which?: Overridable;
}

export interface ActionChange {
  /** The status that the run enters at once; otherwise the state machine decides. */
  status?: RunStatus;
  /** Values by path. */
  set: Record<string, unknown>;
}

interface Row {
  permission: 'run:plan' | 'run:apply' | 'run:force-cancel' | 'run:override-policy';
  /** The attribute of `permissions` in a run's document. */
  can: `can-${string}`;
  /** The attribute of `actions` in a run's document; null if it does not depend on the run alone. */
  flag: `is-${string}` | null;
  /**
   * Runs that accept the action. `undecided`: in a status that lists it (status.ts), without a decision or cancel; `not
   * discarded`: the same, but after a confirmation too; `cooled off`: in any open status, once the cool-off after a
   * cancel is over.
   */
  accepted: 'undecided' | 'not discarded' | 'cooled off';
  /** The event in the run's timeline, in the past tense. */
  event: string;
  /** Whether the user may send the action again after it was accepted. */
  repeatable: boolean;
  /** What it writes to the run; null: it changes the queue instead (lifecycle/queue/force-execute.ts). */
  change: ((actor: Actor, run: Run) => ActionChange) | null;
  /** What an earlier request for this action wrote. */
  recorded: ((run: Run, which?: Overridable) => Recorded | undefined) | null;
  /** Text of the event and of the answer, where the action's name alone would mislead. */
  description: ((run: Pick<Run, 'status'>) => string | undefined) | null;
}

/** A canceled run gets this long to stop cleanly before it may be force-canceled. */
export const forceCancelCoolOffSeconds = 60;

const forceCanceled = ({ test }: Run): string =>
  test ? 'Force-canceled: resources that the tests had created may remain.' : 'Force-canceled.';

/**
 * Users' actions on a run, by the last segment of their routes, in the order in which clients offer them. Routes,
 * write conditions, documents and clients follow from this table.
 */
export const runActions = {
  apply: {
    permission: 'run:apply',
    can: 'can-apply',
    flag: 'is-confirmable',
    accepted: 'undecided',
    event: 'confirmed',
    repeatable: true,
    change: ({ by, at }) => ({ status: 'confirmed', set: { decision: { action: 'apply', by, at } } }),
    recorded: ({ decision }) => (decision?.action === 'apply' ? decision : undefined),
    description: null,
  },
  override: {
    permission: 'run:override-policy',
    can: 'can-override-policy-check',
    flag: null,
    accepted: 'undecided',
    event: 'policy_overridden',
    repeatable: true,
    change: ({ by, at, comment, which }) => ({ set: { [`overrides.${which}`]: { by, at, comment } } }),
    recorded: ({ overrides }, which) => which && overrides?.[which],
    description: null,
  },
  'force-execute': {
    permission: 'run:apply',
    can: 'can-force-execute',
    flag: null,
    accepted: 'undecided',
    event: 'force_executed',
    repeatable: true,
    change: null,
    recorded: null,
    description: null,
  },
  discard: {
    permission: 'run:apply',
    can: 'can-discard',
    flag: 'is-discardable',
    accepted: 'undecided',
    event: 'discarded',
    repeatable: false,
    change: ({ by, at }) => ({ set: { decision: { action: 'discard', by, at } } }),
    recorded: ({ decision }) => (decision?.action === 'discard' ? decision : undefined),
    description: null,
  },
  cancel: {
    // Only for one's own plan-only runs; others need run:apply (mayCancel of api/permissions/reported-permissions.ts).
    permission: 'run:plan',
    can: 'can-cancel',
    flag: 'is-cancelable',
    accepted: 'not discarded',
    event: 'canceled',
    repeatable: false,
    change: ({ by, at, coolOffEnd }) => ({ set: { cancel: { by, at, forceAvailableAt: coolOffEnd } } }),
    recorded: ({ cancel }) => cancel,
    description: ({ status }) =>
      status === 'post_apply_running'
        ? 'Canceled the post-apply run tasks. The apply has finished, and its changes stay.'
        : undefined,
  },
  'force-cancel': {
    permission: 'run:force-cancel',
    can: 'can-force-cancel',
    flag: 'is-force-cancelable',
    accepted: 'cooled off',
    event: 'force_canceled',
    repeatable: false,
    change: ({ by, at }, run) => ({
      set: {
        'cancel.forced': { by, at },
        [`${run.apply.status === 'pending' ? 'plan' : 'apply'}.report`]: {
          outcome: 'canceled',
          message: forceCanceled(run),
          lost: true,
        },
        'statusTimestamps.force-canceled-at': at,
      },
    }),
    recorded: ({ cancel }) => cancel?.forced,
    description: null,
  },
} as const satisfies Record<RunAction, Row>;

export const runActionNames = Object.keys(runActions) as RunAction[];

/** Actions that change the run itself. */
export type Decision = Exclude<RunAction, 'force-execute'>;

/** Performs an action on a run (lifecycle/decisions/decisions.ts). */
export type Decide = (
  run: Run,
  action: Decision,
  by: string,
  comment?: string,
  which?: Overridable,
) => Promise<'accepted' | 'conflict'>;

type Facts = Pick<Run, 'status' | 'decision' | 'cancel' | 'limited' | 'slot'>;

/** Nothing has begun of a queued plan that waits for a slot (slots.ts). */
const hasRunner = ({ status, limited, slot }: Facts): boolean =>
  status === 'plan_queued' && (!limited || slot !== undefined);

/**
 * Whether the run accepts the action in its present state. Permissions are checked elsewhere.
 * @param now decides only about `force-cancel`, which no run accepts without it
 */
export const isAccepted = (action: RunAction, run: Facts, now: Timestamp = ''): boolean => {
  const { status, decision, cancel } = run;
  const { accepted } = runActions[action];
  if (accepted === 'cooled off') return !isFinal(status) && !!cancel && now >= cancel.forceAvailableAt;
  if (cancel || !statuses[status].actions.includes(action)) return false;
  if (action === 'discard' && hasRunner(run)) return false;
  return accepted === 'undecided' ? !decision : decision?.action !== 'discard';
};

/** The failed policies that the action `override` would override now. */
export const pendingOverride = (run: Facts & Pick<Run, 'overrides'>): Overridable | undefined => {
  const which = statuses[run.status].overrides ?? undefined;
  return which && isAccepted('override', run) && !run.overrides?.[which] ? which : undefined;
};

/** Whether the run awaits a confirmation or an override. */
export const waitsForPerson = (run: Facts): boolean => isAccepted('apply', run) || isAccepted('override', run);

/** The attribute `actions` of a run's document. */
export type RunActions = Record<NonNullable<(typeof runActions)[RunAction]['flag']>, boolean>;

export const allowedActions = (run: Facts, now: Timestamp): RunActions =>
  Object.fromEntries(
    runActionNames.flatMap((action) => {
      const { flag } = runActions[action];
      return flag ? [[flag, isAccepted(action, run, now)]] : [];
    }),
  ) as RunActions;
