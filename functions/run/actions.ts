import type { Run } from './run.ts';
import { isFinal, type Overridable, type RunAction, statuses, type Timestamp } from './status.ts';

/**
 * Which actions a run accepts in its present state; permissions are checked elsewhere. The API shows them, and
 * conditional writes are derived from the same table (lifecycle/decisions/decisions.ts).
 */
export interface RunActions {
  'is-confirmable': boolean;
  'is-discardable': boolean;
  'is-cancelable': boolean;
  'is-force-cancelable': boolean;
}

/** A canceled run gets this long to stop cleanly before it may be force-canceled. */
export const forceCancelCoolOffSeconds = 60;

/**
 * Whether an action is still accepted after a confirmation. After a discard or a cancel, only a force-cancel is
 * accepted.
 */
export const afterConfirmation: Record<RunAction, boolean> = {
  confirm: false,
  discard: false,
  override: false,
  cancel: true,
};

type Facts = Pick<Run, 'status' | 'decision' | 'cancel'>;

/** Whether the run may be confirmed, discarded, canceled or overridden now. */
export const isAccepted = (action: RunAction, { status, decision, cancel }: Facts): boolean =>
  statuses[status].actions.includes(action) &&
  !cancel &&
  (!decision || (decision.action === 'apply' && afterConfirmation[action]));

/** The failed policies that the action `override` would override now. */
export const pendingOverride = (run: Facts & Pick<Run, 'overrides'>): Overridable | undefined => {
  const which = statuses[run.status].overrides ?? undefined;
  return which && isAccepted('override', run) && !run.overrides?.[which] ? which : undefined;
};

/** Whether the run awaits a confirmation or an override. */
export const waitsForPerson = (run: Facts): boolean => isAccepted('confirm', run) || isAccepted('override', run);

export const allowedActions = (run: Facts, now: Timestamp): RunActions => ({
  'is-confirmable': isAccepted('confirm', run),
  'is-discardable': isAccepted('discard', run),
  'is-cancelable': isAccepted('cancel', run),
  'is-force-cancelable': !isFinal(run.status) && !!run.cancel && now >= run.cancel.forceAvailableAt,
});
