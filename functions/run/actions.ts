import type { Run } from './run.ts';
import { isFinal, type Overridable, type RunAction, statuses, type Timestamp } from './status.ts';

/**
 * What users may do with a run in its present state; who may is decided elsewhere. Documents report it, and the store
 * accepts an action under the condition that is made from the same table (orchestration/decisions.ts).
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
 * Whether an action is still accepted once somebody has confirmed the run. After a discard or a cancel none is, but a
 * force-cancel.
 */
export const afterConfirmation: Record<RunAction, boolean> = {
  confirm: false,
  discard: false,
  override: false,
  cancel: true,
};

type Facts = Pick<Run, 'status' | 'decision' | 'cancel'>;

/** The one answer to whether a run may be confirmed, discarded, canceled or overridden now. */
export const isAccepted = (action: RunAction, { status, decision, cancel }: Facts): boolean =>
  statuses[status].actions.includes(action) &&
  !cancel &&
  (!decision || (decision.action === 'apply' && afterConfirmation[action]));

/** What the action `override` would let pass now. */
export const pendingOverride = (run: Facts & Pick<Run, 'overrides'>): Overridable | undefined => {
  const which = statuses[run.status].overrides ?? undefined;
  return which && isAccepted('override', run) && !run.overrides?.[which] ? which : undefined;
};

/** It goes on only when a person has confirmed or overridden. */
export const waitsForPerson = (run: Facts): boolean => isAccepted('confirm', run) || isAccepted('override', run);

export const allowedActions = (run: Facts, now: Timestamp): RunActions => ({
  'is-confirmable': isAccepted('confirm', run),
  'is-discardable': isAccepted('discard', run),
  'is-cancelable': isAccepted('cancel', run),
  'is-force-cancelable': !isFinal(run.status) && !!run.cancel && now >= run.cancel.forceAvailableAt,
});
