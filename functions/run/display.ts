import { type RunStatus, statuses, type Tone } from './status.ts';

/** Display of a run's status, for the page, the command line and messages. */

export type { Tone } from './status.ts';

export interface StatusFacts {
  status: RunStatus;
  /** API `actions.is-confirmable`. */
  confirmable: boolean;
  /** API `status-timestamps`: distinguishes a failed plan from a failed apply. */
  statusTimestamps: Record<string, string>;
  /** API `failed-step`. */
  failedStep: string | null;
  hasChanges: boolean;
}

export interface Display {
  name: string;
  tone: Tone;
}

/** Whether the apply was ever queued; before that, an error belongs to the plan. */
const reachedApply = (stamps: Record<string, string>): boolean => 'apply-queued-at' in stamps;

/** A confirmed or discarded plan no longer waits for a decision. */
const toneOf = ({ status, confirmable }: StatusFacts): Tone => {
  const { tone, waitsFor, holdsWorkspace } = statuses[status];
  return waitsFor === 'confirmation' && holdsWorkspace && !confirmable ? 'running' : tone;
};

export const displayStatus = (facts: StatusFacts): Display => {
  const { status, confirmable, statusTimestamps, failedStep, hasChanges } = facts;
  const { label, holdsWorkspace } = statuses[status];
  const tone = toneOf(facts);
  if (status === 'errored') {
    const phase = reachedApply(statusTimestamps) ? 'Apply Errored' : 'Plan Errored';
    return { tone, name: failedStep ? `${phase} · ${failedStep}` : phase };
  }
  if (status === 'planned_and_finished' && !hasChanges) return { tone, name: `${label} · no changes` };
  // A saved plan can be confirmed too, but keeps its name: it does not hold the queue.
  return { tone, name: confirmable && holdsWorkspace ? 'Needs Confirmation' : label };
};
