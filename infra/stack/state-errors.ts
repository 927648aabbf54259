/** How states of the run machine retry errors, and where errors lead. */

export type Errored = 'PlanErrored' | 'ApplyErrored';

/** Retrying cannot fix these errors. */
export const never = (errors: readonly string[]) => ({ ErrorEquals: [...errors], MaxAttempts: 0 });

export const again = {
  ErrorEquals: ['States.ALL'],
  IntervalSeconds: 1,
  BackoffRate: 2,
  MaxDelaySeconds: 30,
  MaxAttempts: 6,
  JitterStrategy: 'FULL',
};

/**
 * Retries while the account's Lambda concurrency is used up (10 in a new account): the tasks of a stage, forty at most,
 * wait for each other, and no run fails.
 */
export const throttled = {
  ErrorEquals: ['Lambda.TooManyRequestsException'],
  IntervalSeconds: 1,
  BackoffRate: 1.5,
  MaxDelaySeconds: 30,
  MaxAttempts: 60,
  JitterStrategy: 'FULL',
};

/**
 * Without Fargate capacity the run stays queued until there is some: for three days before its plan, and again before its
 * apply. Each attempt takes up to four events of the 25,000 in an execution's history (Step Functions: quotas).
 */
export const noCapacity = {
  ErrorEquals: ['CapacityUnavailableError'],
  IntervalSeconds: 5,
  BackoffRate: 1.5,
  MaxDelaySeconds: 120,
  MaxAttempts: 2200,
};

export interface Catcher {
  ErrorEquals: string[];
  ResultPath: string | null;
  Next: string;
}

/** The time limit of a waiting state. */
export const timedOut = (next: string): Catcher => ({
  ErrorEquals: ['States.Timeout'],
  ResultPath: '$.error',
  Next: next,
});

// Both errors are States.Timeout; the ResultPath tells a missed heartbeat from a time limit.
export const missedHeartbeat = (next: Errored): Catcher => ({
  ErrorEquals: ['States.HeartbeatTimeout'],
  ResultPath: '$.missedHeartbeat',
  Next: next,
});

export const outcomes = (errored: Errored, more: Catcher[] = []): Catcher[] => [
  { ErrorEquals: ['Canceled'], ResultPath: '$.error', Next: 'Canceled' },
  { ErrorEquals: ['Discarded'], ResultPath: '$.error', Next: 'Discarded' },
  ...more,
  { ErrorEquals: ['States.ALL'], ResultPath: '$.error', Next: errored },
];
