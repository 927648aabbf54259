import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

/** Functions behind the machine's states, named like the state; `Complete` is the one finisher. */
export const lifecycleFunctions = [
  'Pending',
  'PlanQueued',
  'Planning',
  'NeedsConfirmation',
  'PlannedAndSaved',
  'Confirmed',
  'ApplyQueued',
  'Applying',
  'Complete',
] as const;
export type LifecycleFunction = (typeof lifecycleFunctions)[number];

const days = 24 * 3600;

/** Errors a waiting state is ended with on purpose, or that trying again cannot mend: never retried. */
const meant = [
  'Canceled',
  'Discarded',
  'TerraformFailed',
  'RunNotInStateError',
  'States.Timeout',
  'States.HeartbeatTimeout',
];

/**
 * The life of a run: what a person sees in the console is what the run's page says. Every waiting state hands its task
 * token to a Lambda function that keeps it with the run; every way out leads to exactly one ending, each of which is the
 * one finisher with another status.
 *
 * Input: `{runId, workspaceId, planTimeoutSeconds, applyTimeoutSeconds}`. Only ids and facts for Choices ever pass.
 *
 * Stages to come have their place: Fetching and PrePlanTasks after Pending; PostPlanTasks, CostEstimating and
 * PolicyChecking after PlanDone's verdict `confirm` or `apply`; PreApplyTasks before ApplyQueued; PostApplyTasks after
 * Applying.
 */
export const definition = (arn: Record<LifecycleFunction, string>) => {
  const failing = (ending: 'PlanErrored' | 'ApplyErrored', more: object[] = []) => [
    { ErrorEquals: ['Canceled'], ResultPath: '$.error', Next: 'Canceled' },
    { ErrorEquals: ['Discarded'], ResultPath: '$.error', Next: 'Discarded' },
    ...more,
    { ErrorEquals: ['States.ALL'], ResultPath: '$.error', Next: ending },
  ];

  // What is caught says States.Timeout for both; where it is put tells a missed heartbeat from a time limit.
  const missedHeartbeat = (ending: 'PlanErrored' | 'ApplyErrored') => [
    { ErrorEquals: ['States.HeartbeatTimeout'], ResultPath: '$.missedHeartbeat', Next: ending },
  ];

  const waiting = (
    name: Exclude<LifecycleFunction, 'Complete'>,
    settings: {
      comment: string;
      next: string;
      errored: 'PlanErrored' | 'ApplyErrored';
      timeout: object;
      result?: string;
      catch?: object[];
    },
  ) => ({
    Type: 'Task',
    Comment: settings.comment,
    Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
    Parameters: {
      FunctionName: arn[name],
      Payload: { 'runId.$': '$.runId', 'token.$': '$$.Task.Token' },
    },
    ...settings.timeout,
    ResultPath: settings.result ?? null,
    Retry: [
      { ErrorEquals: meant, MaxAttempts: 0 },
      // No Fargate capacity: the run stays queued until there is some.
      {
        ErrorEquals: ['CapacityUnavailableError'],
        IntervalSeconds: 5,
        BackoffRate: 1.5,
        MaxDelaySeconds: 120,
        MaxAttempts: 60,
      },
      {
        ErrorEquals: ['States.ALL'],
        IntervalSeconds: 1,
        BackoffRate: 2,
        MaxDelaySeconds: 30,
        MaxAttempts: 6,
        JitterStrategy: 'FULL',
      },
    ],
    Catch: failing(settings.errored, settings.catch),
    Next: settings.next,
  });

  const ending = (comment: string) => ({
    Type: 'Task',
    Comment: comment,
    Resource: 'arn:aws:states:::lambda:invoke',
    Parameters: {
      FunctionName: arn.Complete,
      Payload: { 'ending.$': '$$.State.Name', 'run.$': '$' },
    },
    ResultPath: null,
    Retry: [
      // The queue moves only when the process is known to be gone; a container gets up to 120 s to stop.
      {
        ErrorEquals: ['RunnerStillStoppingError'],
        IntervalSeconds: 1,
        BackoffRate: 1.3,
        MaxDelaySeconds: 10,
        MaxAttempts: 60,
      },
      {
        ErrorEquals: ['States.ALL'],
        IntervalSeconds: 1,
        BackoffRate: 2,
        MaxDelaySeconds: 60,
        MaxAttempts: 12,
        JitterStrategy: 'FULL',
      },
    ],
    End: true,
  });

  return {
    Comment: 'The life of a Terraform run',
    StartAt: 'Pending',
    TimeoutSeconds: 360 * days,
    States: {
      Pending: waiting('Pending', {
        comment: 'Waits for its turn in the workspace’s queue and for the workspace to be unlocked',
        next: 'PlanQueued',
        errored: 'PlanErrored',
        timeout: { TimeoutSeconds: 90 * days },
      }),
      PlanQueued: waiting('PlanQueued', {
        comment: 'Starts a runner and waits until it claims the plan',
        next: 'Planning',
        errored: 'PlanErrored',
        timeout: { TimeoutSeconds: 3600 },
      }),
      Planning: waiting('Planning', {
        comment: 'Waits for terraform plan; the runner beats',
        next: 'PlanDone',
        errored: 'PlanErrored',
        timeout: { TimeoutSecondsPath: '$.planTimeoutSeconds', HeartbeatSeconds: 60 },
        result: '$.plan',
        catch: missedHeartbeat('PlanErrored'),
      }),
      PlanDone: {
        Type: 'Choice',
        Comment: 'Nothing to do, apply by itself, or ask a person',
        Choices: [
          { Variable: '$.plan.next', StringEquals: 'finish', Next: 'PlannedAndFinished' },
          { Variable: '$.plan.next', StringEquals: 'apply', Next: 'ApplyQueued' },
          { Variable: '$.plan.next', StringEquals: 'save', Next: 'PlannedAndSaved' },
        ],
        Default: 'NeedsConfirmation',
      },
      NeedsConfirmation: waiting('NeedsConfirmation', {
        comment: 'Waits for a person to confirm or discard',
        next: 'ApplyQueued',
        errored: 'PlanErrored',
        timeout: { TimeoutSeconds: 60 * days },
        catch: [{ ErrorEquals: ['States.Timeout'], ResultPath: '$.error', Next: 'Discarded' }],
      }),
      PlannedAndSaved: waiting('PlannedAndSaved', {
        comment: 'Keeps the plan until a person confirms or discards it; the queue goes on',
        next: 'Confirmed',
        errored: 'PlanErrored',
        timeout: { TimeoutSeconds: 30 * days },
        catch: [{ ErrorEquals: ['States.Timeout'], ResultPath: '$.error', Next: 'Discarded' }],
      }),
      Confirmed: waiting('Confirmed', {
        comment: 'Waits for its turn at the end of the workspace’s queue',
        next: 'ApplyQueued',
        errored: 'PlanErrored',
        timeout: { TimeoutSeconds: 90 * days },
      }),
      ApplyQueued: waiting('ApplyQueued', {
        comment: 'Hands the apply to the runner that made the plan, or starts one, and waits until it is claimed',
        next: 'Applying',
        errored: 'ApplyErrored',
        timeout: { TimeoutSeconds: 3600 },
      }),
      Applying: waiting('Applying', {
        comment: 'Waits for terraform apply; the runner beats',
        next: 'Applied',
        errored: 'ApplyErrored',
        timeout: { TimeoutSecondsPath: '$.applyTimeoutSeconds', HeartbeatSeconds: 60 },
        catch: missedHeartbeat('ApplyErrored'),
      }),
      Applied: ending('Finishes the run as applied, starts the next'),
      PlannedAndFinished: ending('Finishes the run with nothing to apply, starts the next'),
      PlanErrored: ending('Finishes the run as errored before its apply, starts the next'),
      ApplyErrored: ending('Finishes the run as errored in its apply, starts the next'),
      Discarded: ending('Finishes the run as discarded, starts the next'),
      Canceled: ending('Finishes the run as canceled, starts the next'),
    },
  };
};

export interface LifecycleProps {
  functions: Record<LifecycleFunction, lambda.IFunction>;
}

/** The state machine of runs, and nothing else. */
export class Lifecycle extends Construct {
  readonly machine: sfn.StateMachine;

  constructor(scope: Construct, id: string, { functions }: LifecycleProps) {
    super(scope, id);
    const arns = Object.fromEntries(lifecycleFunctions.map((name) => [name, functions[name].functionArn])) as Record<
      LifecycleFunction,
      string
    >;
    this.machine = new sfn.StateMachine(this, 'Runs', {
      definitionBody: sfn.DefinitionBody.fromString(Stack.of(this).toJsonString(definition(arns))),
      stateMachineType: sfn.StateMachineType.STANDARD,
      comment: 'The life of a Terraform run',
    });
    this.machine.addToRolePolicy(
      new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: Object.values(arns) }),
    );
  }

  get stateMachineArn(): string {
    return this.machine.stateMachineArn;
  }
}
