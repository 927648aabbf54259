import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { resumeErrors } from '#run/lifecycle.ts';
import { type LifecycleFunction, lifecycleFunctions } from './functions.ts';
import { type Arns, type Builders, builders, days, missedHeartbeat, outcomes, timedOut } from './state-builders.ts';

/**
 * The life of a run: what a person sees in the console is what the run's page says. Every waiting state hands its task
 * token to a Lambda function that keeps it with the run; every way out leads to exactly one ending, each of which is the
 * one finisher with another status.
 *
 * States are in the order of life, and a run enters each at most once: every way leads down. A step that several may follow
 * is followed by a Choice, which compares what the step's result says; a step that is not configured is skipped, and
 * costs nothing. What a state catches is a stop, a failure or a time limit (decisions/0198).
 *
 * Input: `{runId, workspaceId, planTimeoutSeconds, applyTimeoutSeconds, taskResults?: {[stage]: ids}, result: {next}}`,
 * where `next` is the first state of the run. Only ids and facts for Choices ever pass.
 */
export const definition = (arn: Arns) => {
  const build = builders(arn, resumeErrors);
  return {
    Comment: 'The life of a Terraform run',
    StartAt: 'AfterCreation',
    TimeoutSeconds: 360 * days,
    States: {
      ...beforePlan(build),
      ...plan(build),
      ...postPlanTasks(build),
      ...policyEvaluation(build),
      ...costEstimate(build),
      ...policyCheck(build),
      ...confirmation(build),
      ...beforeApply(build),
      ...apply(build),
      ...otherEndings(build),
    },
  };
};

/** Up to the start of a plan. A run that is created in a free workspace has its turn already. */
const beforePlan = ({ waiting, tasks, tasksDone, choosing }: Builders) => ({
  AfterCreation: choosing('Creation', 'PlanQueued', 'To the plan, or to what the new run has to wait for first'),
  Pending: waiting('Pending', {
    comment: 'Waits for its turn in the workspace’s queue and for the workspace to be unlocked',
    next: 'AfterPending',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 90 * days },
    chooses: true,
  }),
  AfterPending: choosing(
    'Pending',
    'PlanQueued',
    'To the configuration, to the run tasks before the plan, or to the plan',
  ),
  Fetching: waiting('Fetching', {
    comment: 'Waits for the configuration to be uploaded',
    next: 'AfterFetching',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 3600 },
    chooses: true,
  }),
  AfterFetching: choosing('Fetching', 'PlanQueued', 'To the run tasks before the plan, or to the plan'),
  PrePlanTasks: tasks('pre_plan', 'PrePlanTask', {
    comment: 'Run tasks before the plan, all at once',
    next: 'PrePlanTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PrePlanTasksDone: tasksDone('pre_plan', 'AfterPrePlanTasks'),
  AfterPrePlanTasks: choosing('PrePlanTasks', 'PlanQueued', 'To the plan, or to an end where a mandatory task failed'),
  PlanQueued: waiting('PlanQueued', {
    comment: 'Starts a runner and waits until it claims the plan',
    next: 'Planning',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 3600 },
  }),
});

/** The plan. The runner says which check comes first, or that there is none. */
const plan = ({ entering, choosing }: Builders) => ({
  Planning: entering({
    comment: 'Waits for terraform plan; the runner beats',
    next: 'AfterPlanning',
    errored: 'PlanErrored',
    timeout: { TimeoutSecondsPath: '$.planTimeoutSeconds', HeartbeatSeconds: 60 },
    chooses: true,
    catch: [missedHeartbeat('PlanErrored')],
  }),
  AfterPlanning: choosing(
    'Planning',
    'NeedsConfirmation',
    'To the first check of the plan, to a person, or to the apply, which the runner may have already',
  ),
});

/** The first check of a plan: services of the organization. */
const postPlanTasks = ({ tasks, tasksDone, choosing }: Builders) => ({
  PostPlanTasks: tasks('post_plan', 'PostPlanTask', {
    comment: 'Run tasks after the plan, all at once',
    next: 'PostPlanTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PostPlanTasksDone: tasksDone('post_plan', 'AfterPostPlanTasks'),
  AfterPostPlanTasks: choosing(
    'PostPlanTasks',
    'NeedsConfirmation',
    'To the next check, or to an end where a mandatory task failed',
  ),
});

/** The second check: policies that OPA evaluates. */
const policyEvaluation = ({ entering, checking, choosing }: Builders) => ({
  PolicyEvaluating: checking('PolicyEvaluating', {
    comment: 'OPA evaluates the policy sets of the workspace',
    next: 'AfterPolicyEvaluating',
    errored: 'PlanErrored',
  }),
  AfterPolicyEvaluating: choosing(
    'PolicyEvaluating',
    'NeedsConfirmation',
    'To the next check, or to a person where mandatory policies failed',
  ),
  PostPlanAwaitingDecision: entering({
    comment: 'Mandatory policies failed: waits for a person to override them or to discard',
    next: 'AfterPostPlanAwaitingDecision',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 60 * days },
    chooses: true,
    catch: [timedOut('Discarded')],
  }),
  AfterPostPlanAwaitingDecision: choosing(
    'PostPlanAwaitingDecision',
    'NeedsConfirmation',
    'To the next check: a person let the policies pass',
  ),
});

/** The third check, which fails no run. */
const costEstimate = ({ checking, choosing }: Builders) => ({
  CostEstimating: {
    ...checking('CostEstimating', {
      comment: 'Estimates what the plan costs; never fails a run',
      next: 'AfterCostEstimating',
      errored: 'PlanErrored',
    }),
    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.costError', Next: 'CostEstimateErrored' }],
  },
  CostEstimateErrored: checking('CostEstimating', {
    comment: 'There is no estimate, and the run says so',
    payload: { 'error.$': '$.costError' },
    next: 'AfterCostEstimating',
    errored: 'PlanErrored',
  }),
  AfterCostEstimating: choosing(
    'CostEstimating',
    'NeedsConfirmation',
    'To the last check, to a person, or to the apply',
  ),
});

/** The last check: policies of three levels. */
const policyCheck = ({ entering, checking, choosing }: Builders) => ({
  PolicyChecking: checking('PolicyChecking', {
    comment: 'Checks the policy sets with three levels: advisory, soft- and hard-mandatory',
    next: 'AfterPolicyChecking',
    errored: 'PlanErrored',
  }),
  AfterPolicyChecking: choosing(
    'PolicyChecking',
    'NeedsConfirmation',
    'To a person or to the apply, or to an end where mandatory policies failed',
  ),
  PolicyOverride: entering({
    comment: 'Soft-mandatory policies failed: waits for a person to override them or to discard',
    next: 'AfterPolicyOverride',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 60 * days },
    chooses: true,
    catch: [timedOut('Discarded')],
  }),
  AfterPolicyOverride: choosing(
    'PolicyOverride',
    'NeedsConfirmation',
    'To a person or to the apply: a person let the policies pass',
  ),
});

/** A person confirms or discards. Only a saved plan lets the queue go on, and is queued again. */
const confirmation = ({ entering, waiting, choosing }: Builders) => ({
  PlannedAndSaved: waiting('PlannedAndSaved', {
    comment: 'Keeps the plan until a person confirms or discards it; the queue goes on',
    next: 'Confirmed',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 30 * days },
    catch: [timedOut('Discarded')],
  }),
  Confirmed: waiting('Confirmed', {
    comment: 'Waits for its turn at the end of the workspace’s queue',
    next: 'AfterConfirmation',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 90 * days },
    chooses: true,
  }),
  NeedsConfirmation: entering({
    comment: 'Waits for a person to confirm or discard',
    next: 'AfterConfirmation',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 60 * days },
    chooses: true,
    catch: [timedOut('Discarded')],
  }),
  AfterConfirmation: choosing(
    'Confirmation',
    'ApplyQueued',
    'To the run tasks before the apply, to the runner that stands by, or to another one',
  ),
});

/** A runner that stands by asks for its offer every second. */
const offerSeconds = 10;

/** Up to the start of an apply. */
const beforeApply = ({ entering, waiting, tasks, tasksDone, choosing }: Builders) => ({
  PreApplyTasks: tasks('pre_apply', 'PreApplyTask', {
    comment: 'Run tasks before the apply, all at once',
    next: 'PreApplyTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PreApplyTasksDone: tasksDone('pre_apply', 'AfterPreApplyTasks'),
  AfterPreApplyTasks: choosing(
    'PreApplyTasks',
    'ApplyQueued',
    'To a runner, to an end where a mandatory task failed, or to a person where automatic apply was withdrawn',
  ),
  NeedsConfirmationAfterTasks: entering({
    comment: 'The authors of the run lost the permission to apply meanwhile: waits for a person to confirm or discard',
    next: 'ApplyQueued',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 60 * days },
    catch: [timedOut('Discarded')],
  }),
  ApplyOffered: waiting('ApplyQueued', {
    comment: 'Offers the apply to the runner that made the plan and stands by, and waits until it claims the apply',
    payload: { isOffer: true },
    next: 'Applying',
    errored: 'ApplyErrored',
    timeout: { TimeoutSeconds: offerSeconds },
    catch: [{ ErrorEquals: ['States.Timeout'], ResultPath: null, Next: 'ApplyQueued' }],
  }),
  ApplyQueued: waiting('ApplyQueued', {
    comment: 'Starts a runner and waits until it claims the apply',
    next: 'Applying',
    errored: 'ApplyErrored',
    timeout: { TimeoutSeconds: 3600 },
  }),
});

/** The apply, and what follows it. */
const apply = ({ entering, tasks, tasksDone, choosing, ending }: Builders) => ({
  Applying: entering({
    comment: 'Waits for terraform apply; the runner beats',
    next: 'AfterApplying',
    errored: 'ApplyErrored',
    timeout: { TimeoutSecondsPath: '$.applyTimeoutSeconds', HeartbeatSeconds: 60 },
    chooses: true,
    catch: [missedHeartbeat('ApplyErrored')],
  }),
  AfterApplying: choosing('Applying', 'Applied', 'To the run tasks after the apply, or to the end'),
  // A failure here cannot undo the apply; a cancel ends the run as canceled (HCP Terraform: run states).
  PostApplyTasks: tasks('post_apply', 'PostApplyTask', {
    comment: 'Run tasks after the apply, all at once; their failure only warns',
    next: 'PostApplyTasksDone',
    catch: [
      { ErrorEquals: ['Canceled'], ResultPath: '$.error', Next: 'Canceled' },
      { ErrorEquals: ['States.ALL'], ResultPath: '$.postApply', Next: 'PostApplyTasksDone' },
    ],
  }),
  PostApplyTasksDone: {
    ...tasksDone('post_apply', 'Applied'),
    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.postApply', Next: 'Applied' }],
  },
  Applied: ending('Finishes the run as applied, starts the next'),
});

/** Every other way to end; each of them is the one finisher with another status. */
const otherEndings = ({ ending }: Builders) => ({
  PlannedAndFinished: ending('Finishes the run with nothing to apply, starts the next'),
  PolicySoftFailed: ending('Finishes a plan-only run whose soft-mandatory policies failed'),
  PlanErrored: ending('Finishes the run as errored before its apply, starts the next'),
  ApplyErrored: ending('Finishes the run as errored in its apply, starts the next'),
  Discarded: ending('Finishes the run as discarded, starts the next'),
  Canceled: ending('Finishes the run as canceled, starts the next'),
});

export interface LifecycleProps {
  functions: Record<LifecycleFunction, lambda.IFunction>;
}

/** The state machine of runs, and nothing else. */
export class Lifecycle extends Construct {
  readonly machine: sfn.StateMachine;

  constructor(scope: Construct, id: string, { functions }: LifecycleProps) {
    super(scope, id);
    const arns = Object.fromEntries(lifecycleFunctions.map((name) => [name, functions[name].functionArn])) as Arns;
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
