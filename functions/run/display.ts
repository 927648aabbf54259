import type { PhaseName } from './run.ts';
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
  /** API `awaits-slot`. */
  awaitsSlot?: boolean;
}

export interface Display {
  name: string;
  tone: Tone;
}

/** The phase that an error belongs to: the plan until the apply is queued. */
export const erroredPhase = (stamps: Record<string, string>): PhaseName =>
  'apply-queued-at' in stamps ? 'apply' : 'plan';

/** A confirmed or discarded plan no longer waits for a decision. */
const toneOf = ({ status, confirmable }: StatusFacts): Tone => {
  const { tone, waitsFor, holdsWorkspace } = statuses[status];
  return waitsFor === 'confirmation' && holdsWorkspace && !confirmable ? 'running' : tone;
};

export const displayStatus = (facts: StatusFacts): Display => {
  const { status, confirmable, statusTimestamps, failedStep, hasChanges, awaitsSlot } = facts;
  const { label, holdsWorkspace } = statuses[status];
  const tone = toneOf(facts);
  if (status === 'errored') {
    const phase = erroredPhase(statusTimestamps) === 'apply' ? 'Apply Errored' : 'Plan Errored';
    return { tone, name: failedStep ? `${phase} · ${failedStep}` : phase };
  }
  if (awaitsSlot) return { tone: 'waiting', name: `${label} · waiting for a runner` };
  if (status === 'planned_and_finished' && !hasChanges) return { tone, name: `${label} · no changes` };
  // A saved plan can be confirmed too, but keeps its name: it does not hold the queue.
  return { tone, name: confirmable && holdsWorkspace ? 'Needs Confirmation' : label };
};
