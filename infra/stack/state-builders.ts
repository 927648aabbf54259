import { Aws } from 'aws-cdk-lib/core';
import { type Next, nextStates } from '#run/lifecycle.ts';
import type { LifecycleFunction } from './functions.ts';
import { again, type Catcher, type Errored, never, noCapacity, outcomes, throttled, timedOut } from './state-errors.ts';

/** Builders of the run machine's states. Amazon States Language with JSONPath. */

export const days = 24 * 3600;

/** ARNs of service integrations. The partition differs in China and in GovCloud. */
const invoke = `arn:${Aws.PARTITION}:states:::lambda:invoke`;
const invokeAndWait = `${invoke}.waitForTaskToken`;

export type Arns = Record<LifecycleFunction, string>;
/** Identifies the waiting state and the attempt (functions/run/attempts.ts). */
const attempt = {
  'token.$': '$$.Task.Token',
  'entered.$': '$$.State.EnteredTime',
  'attempt.$': '$$.State.RetryCount',
};

interface Common {
  comment: string;
  next: string;
  /** By default before the apply. */
  errored?: Errored;
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
    { comment, next, errored = 'PlanErrored', timeout, chooses = false, catch: more, payload = {} }: Waiting,
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

/** A state that waits until a user confirms, overrides or discards; after 60 days the run is discarded. */
const deciding = (machine: Machine) => (next: string, comment: string) =>
  entering(machine)({
    comment,
    next,
    timeout: { TimeoutSeconds: 60 * days },
    chooses: true,
    catch: [timedOut('Discarded')],
  });

/** A state that waits for a turn, in the queue or for a slot: all have one function, which gets the state's name. */
const awaitingTurn = (machine: Machine) => (state: Omit<Waiting, 'payload' | 'timeout'>) =>
  waiting(machine)('AwaitTurn', {
    ...state,
    timeout: { TimeoutSeconds: 90 * days },
    payload: { 'state.$': '$$.State.Name' },
  });

/** A function that does the work itself and returns the next state. */
const checking =
  ({ arn, unretried }: Machine) =>
  (
    name: LifecycleFunction,
    { comment, next, errored = 'PlanErrored', catch: more, payload = {} }: Common & { payload?: object },
  ) => ({
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
    deciding: deciding(machine),
    awaitingTurn: awaitingTurn(machine),
    checking: checking(machine),
    tasks: tasks(machine),
    tasksDone: tasksDone(machine),
    choosing,
    ending: ending(machine),
  };
};

export type Builders = ReturnType<typeof builders>;
