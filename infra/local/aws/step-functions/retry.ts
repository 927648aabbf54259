import type { Catcher, Retrier } from './definition.ts';
import type { FailureFields } from './failure.ts';

/**
 * Whether an ErrorEquals list matches the failure. AWS reports a missed heartbeat as States.Timeout, which that name
 * and States.HeartbeatTimeout match; States.TaskFailed matches all errors of a task except timeouts.
 */
const matches = (names: readonly string[], failure: FailureFields, ofTask: boolean): boolean =>
  !failure.terminal &&
  names.some(
    (name) =>
      name === 'States.ALL' ||
      name === failure.error ||
      (name === 'States.HeartbeatTimeout' && failure.heartbeat) ||
      (name === 'States.TaskFailed' && ofTask && failure.error !== 'States.Timeout'),
  );

/** The attempts of one visit to a state. */
export class Retries {
  /** Attempts after the first, as in `$$.State.RetryCount`. */
  count = 0;
  readonly #retriers: readonly Retrier[];
  readonly #used: number[];
  readonly #ofTask: boolean;

  constructor(retriers: readonly Retrier[] = [], ofTask: boolean) {
    this.#retriers = retriers;
    this.#used = retriers.map(() => 0);
    this.#ofTask = ofTask;
  }

  /** Milliseconds until the next attempt; undefined if there is none. Only the first match counts. */
  next(failure: FailureFields): number | undefined {
    const index = this.#retriers.findIndex(({ ErrorEquals }) => matches(ErrorEquals, failure, this.#ofTask));
    const retrier = this.#retriers[index];
    if (!retrier) return undefined;
    const used = this.#used[index]!;
    if (used >= (retrier.MaxAttempts ?? 3)) return undefined;
    this.#used[index] = used + 1;
    this.count++;
    const seconds = (retrier.IntervalSeconds ?? 1) * (retrier.BackoffRate ?? 2) ** used;
    const ms = Math.min(seconds, retrier.MaxDelaySeconds ?? Number.POSITIVE_INFINITY) * 1000;
    return retrier.JitterStrategy === 'FULL' ? Math.random() * ms : ms;
  }
}

export const catcherOf = (
  catchers: readonly Catcher[] = [],
  failure: FailureFields,
  ofTask: boolean,
): Catcher | undefined => catchers.find(({ ErrorEquals }) => matches(ErrorEquals, failure, ofTask));

/** The value at a Catch's ResultPath: a timeout has an empty cause, an unnamed failure has nulls (seen on AWS). */
export const errorOutput = ({ error, cause }: FailureFields): { Error: string | null; Cause: string | null } => ({
  Error: error ?? null,
  Cause: cause ?? (error === undefined ? null : ''),
});
