import { Aws } from 'aws-cdk-lib/core';
import { type Next, nextStates } from '#run/lifecycle.ts';
import type { LifecycleFunction } from './functions.ts';

/** Builders of the run machine's states. Amazon States Language with JSONPath. */

export const days = 24 * 3600;

/** ARNs of service integrations. The partition differs in China and in GovCloud. */
const invoke = `arn:${Aws.PARTITION}:states:::lambda:invoke`;
const invokeAndWait = `${invoke}.waitForTaskToken`;

export type Arns = Record<LifecycleFunction, string>;
type Errored = 'PlanErrored' | 'ApplyErrored';

/** Retrying cannot fix these errors. */
const never = (errors: readonly string[]) => ({ ErrorEquals: [...errors], MaxAttempts: 0 });

const again = {
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
const throttled = {
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
const noCapacity = {
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

/** Identifies the waiting state and the attempt (functions/run/attempts.ts). */
const attempt = {
  'token.$': '$$.Task.Token',
  'entered.$': '$$.State.EnteredTime',
  'attempt.$': '$$.State.RetryCount',
};

interface Common {
  comment: string;
  next: string;
  errored: Errored;
  catch?: Catcher[];
}

interface Waiting extends Common {
  timeout: object;
  /** The result that resumes it contains the next state. */
  chooses?: boolean;
  payload?: object;
}

/** Path of the next state in a step's result, and in the input of an execution for the first state. */
const result = '$.result';

/** Everything that states are built with. */
interface Machine {
  arn: Arns;
  /** Errors that a retry cannot fix. */
  unretried: string[];
}

/** Passes its task token to a function that stores it with the run, and waits. */
const waiting =
  ({ arn, unretried }: Machine) =>
  (
    name: LifecycleFunction,
    { comment, next, errored, timeout, chooses = false, catch: more, payload = {} }: Waiting,
  ) => ({
    Type: 'Task',
    Comment: comment,
    Resource: invokeAndWait,
    Parameters: {
      FunctionName: arn[name],
      Payload: { 'runId.$': '$.runId', ...attempt, ...payload },
    },
    ...timeout,
    ResultPath: chooses ? result : null,
    Retry: [never(unretried), noCapacity, throttled, again],
    Catch: outcomes(errored, more),
    Next: next,
  });

/** A state that only waits: all such states have one function, which gets the state's name. */
const entering = (machine: Machine) => (state: Omit<Waiting, 'payload'>) =>
  waiting(machine)('EnterState', { ...state, payload: { 'state.$': '$$.State.Name' } });

/** A function that does the work itself and returns the next state. */
const checking =
  ({ arn, unretried }: Machine) =>
  (name: LifecycleFunction, { comment, next, errored, catch: more, payload = {} }: Common & { payload?: object }) => ({
    Type: 'Task',
    Comment: comment,
    Resource: invoke,
    Parameters: { FunctionName: arn[name], Payload: { 'runId.$': '$.runId', ...payload } },
    ResultSelector: { 'next.$': '$.Payload.next' },
    ResultPath: result,
    Retry: [never(unretried), throttled, again],
    Catch: outcomes(errored, more),
    Next: next,
  });

/** All tasks of a stage in parallel, each in a state of that name that waits for its result. */
const tasks =
  (machine: Machine) =>
  (
    stage: string,
    name: string,
    { comment, next, catch: catchers }: Omit<Common, 'errored'> & { catch: Catcher[] },
  ) => ({
    Type: 'Map',
    Comment: comment,
    ItemsPath: `$.taskResults.${stage}`,
    ItemSelector: { 'runId.$': '$.runId', 'taskResultId.$': '$$.Map.Item.Value' },
    ItemProcessor: {
      ProcessorConfig: { Mode: 'INLINE' },
      StartAt: name,
      States: taskStates(machine, name),
    },
    ResultPath: null,
    Catch: catchers,
    Next: next,
  });

/** One run task, from its call to its result. */
const taskStates = ({ arn, unretried }: Machine, name: string) => ({
  [name]: {
    Type: 'Task',
    Comment: 'Calls the run task and waits for its result; each progress update counts as a heartbeat',
    Resource: invokeAndWait,
    Parameters: {
      FunctionName: arn.RunTask,
      Payload: {
        'runId.$': '$.runId',
        'taskResultId.$': '$.taskResultId',
        ...attempt,
      },
    },
    TimeoutSeconds: 3600,
    HeartbeatSeconds: 600,
    ResultPath: null,
    Retry: [never(unretried), throttled, again],
    Catch: [
      { ErrorEquals: ['Canceled'], Next: `${name}Canceled` },
      { ErrorEquals: ['States.ALL'], ResultPath: '$.error', Next: `${name}Unanswered` },
    ],
    End: true,
  },
  [`${name}Unanswered`]: {
    Type: 'Task',
    Comment: 'Records the result as errored: the call failed, or the task missed its time limit',
    Resource: invoke,
    Parameters: {
      FunctionName: arn.TaskUnanswered,
      Payload: { 'runId.$': '$.runId', 'taskResultId.$': '$.taskResultId', 'error.$': '$.error' },
    },
    ResultPath: null,
    Retry: [throttled, again],
    End: true,
  },
  [`${name}Canceled`]: {
    Type: 'Fail',
    Comment: 'The run was canceled',
    Error: 'Canceled',
    Cause: 'the run was canceled',
  },
});

/** Decides whether a stage passed. */
const tasksDone = (machine: Machine) => (stage: string, next: string) =>
  checking(machine)('TaskStageDone', {
    comment: 'Decides whether the stage passed: no mandatory task failed',
    payload: { stage },
    next,
    errored: 'PlanErrored',
  });

/** A step's result contains the next state. */
const choosing = <Step extends keyof typeof nextStates>(
  after: Step,
  usual: Extract<(typeof nextStates)[Step][number], Next>,
  comment: string,
) => ({
  Type: 'Choice',
  Comment: comment,
  Choices: nextStates[after]
    .filter((state) => state !== usual)
    .map((state) => ({ Variable: `${result}.next`, StringEquals: state, Next: state })),
  Default: usual,
});

/** Finishes the run with the status of this ending. */
const ending =
  ({ arn }: Machine) =>
  (comment: string) => ({
    Type: 'Task',
    Comment: comment,
    Resource: invoke,
    Parameters: {
      FunctionName: arn.Complete,
      Payload: { 'ending.$': '$$.State.Name', 'run.$': '$' },
    },
    ResultSelector: { 'next.$': '$.Payload.next' },
    ResultPath: '$.ended',
    Retry: [
      // The queue continues only after the runner's process has ended; a container has up to 120 s to stop.
      {
        ErrorEquals: ['RunnerStillStoppingError'],
        IntervalSeconds: 1,
        BackoffRate: 1.3,
        MaxDelaySeconds: 10,
        MaxAttempts: 60,
      },
      throttled,
      { ...again, MaxDelaySeconds: 60, MaxAttempts: 12 },
    ],
    End: true,
  });

/** @param meant errors that end a state on purpose, and that a retry must not repeat */
export const builders = (arn: Arns, meant: readonly string[]) => {
  const machine: Machine = {
    arn,
    unretried: [...meant, 'RunNotInStateError', 'States.Timeout', 'States.HeartbeatTimeout'],
  };
  return {
    waiting: waiting(machine),
    entering: entering(machine),
    checking: checking(machine),
    tasks: tasks(machine),
    tasksDone: tasksDone(machine),
    choosing,
    ending: ending(machine),
  };
};

export type Builders = ReturnType<typeof builders>;
