import type { Run, Timestamp } from './run.ts';
import { isFinal, type RunStatus } from './status.ts';

/** What users may do with a run in its present state (lifecycle rule 5); who may is decided elsewhere. */
export interface RunActions {
  'is-confirmable': boolean;
  'is-discardable': boolean;
  'is-cancelable': boolean;
  'is-force-cancelable': boolean;
}

/** A canceled run gets this long to stop cleanly before it may be force-canceled. */
export const forceCancelCoolOffSeconds = 60;

const running: readonly RunStatus[] = [
  'pending',
  'fetching',
  'fetching_completed',
  'pre_plan_running',
  'pre_plan_completed',
  'plan_queued',
  'planning',
  'post_plan_running',
  'cost_estimating',
  'policy_checking',
  'confirmed',
  'pre_apply_running',
  'pre_apply_completed',
  'apply_queued',
  'applying',
  'post_apply_running',
];

const waitingForPerson: readonly RunStatus[] = ['policy_override', 'post_plan_awaiting_decision', 'planned_and_saved'];

type Facts = Pick<Run, 'status' | 'confirmable' | 'decision' | 'cancel'>;

export const allowedActions = (run: Facts, now: Timestamp): RunActions => {
  const open = !isFinal(run.status) && !run.cancel;
  const undecided = open && run.decision?.action !== 'discard';
  return {
    'is-confirmable': undecided && run.confirmable,
    'is-discardable':
      undecided && (run.confirmable || run.status === 'pending' || waitingForPerson.includes(run.status)),
    'is-cancelable': undecided && running.includes(run.status),
    'is-force-cancelable': !isFinal(run.status) && !!run.cancel && now >= run.cancel.forceAvailableAt,
  };
};
