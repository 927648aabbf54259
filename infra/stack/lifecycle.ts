import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { resumeErrors } from '#run/lifecycle.ts';
import { type LifecycleFunction, lifecycleFunctions } from './functions.ts';
import {
  type Arns,
  type Builders,
  builders,
  days,
  detour,
  missedHeartbeat,
  outcomes,
  timedOut,
} from './state-builders.ts';

/**
 * The life of a run: what a person sees in the console is what the run's page says. Every waiting state hands its task
 * token to a Lambda function that keeps it with the run; every way out leads to exactly one ending, each of which is the
 * one finisher with another status.
 *
 * What is not configured costs nothing: PlanQueued, ApplyQueued and Applied send a run that has something to do first on
 * a detour, by an error of that name, and are entered again after it. After the plan and each of its checks a Choice leads
 * to what comes next; states are in the order of life, and every way but those detours leads down (decisions/0007, 0026).
 *
 * Input: `{runId, workspaceId, planTimeoutSeconds, applyTimeoutSeconds, taskResults?: {[stage]: ids}}`. Only ids and
 * facts for Choices ever pass.
 */
export const definition = (arn: Arns) => {
  const build = builders(arn, resumeErrors);
  return {
    Comment: 'The life of a Terraform run',
    StartAt: 'PlanQueued',
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

/** Up to the start of a plan. What is not needed is entered only by a detour from PlanQueued. */
const beforePlan = ({ waiting, tasks, tasksDone }: Builders) => ({
  Pending: waiting('Pending', {
    comment: 'Waits for its turn in the workspace’s queue and for the workspace to be unlocked',
    next: 'PlanQueued',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 90 * days },
  }),
  Fetching: waiting('Fetching', {
    comment: 'Waits for the configuration to be uploaded',
    next: 'PlanQueued',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 3600 },
  }),
  PrePlanTasks: tasks('pre_plan', 'PrePlanTask', {
    comment: 'Run tasks before the plan, all at once',
    next: 'PrePlanTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PrePlanTasksDone: tasksDone('pre_plan', 'PlanQueued', null),
  PlanQueued: waiting('PlanQueued', {
    comment:
      'Starts a runner and waits until it claims the plan; other runs and what else comes first are waited for first',
    next: 'Planning',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 3600 },
    catch: [detour('Pending'), detour('Fetching'), detour('PrePlanTasks')],
  }),
});

/** The plan. The runner says which check comes first, or that there is none. */
const plan = ({ waiting, choosing }: Builders) => ({
  Planning: waiting('Planning', {
    comment: 'Waits for terraform plan; the runner beats',
    next: 'AfterPlanning',
    errored: 'PlanErrored',
    timeout: { TimeoutSecondsPath: '$.planTimeoutSeconds', HeartbeatSeconds: 60 },
    result: '$.plan',
    // Its function tells runs of this machine from those of former ones.
    payload: { handsOver: true },
    catch: [missedHeartbeat('PlanErrored')],
  }),
  AfterPlanning: choosing(
    'Planning',
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
  PostPlanTasksDone: tasksDone('post_plan', 'AfterPostPlanTasks', '$.plan'),
  AfterPostPlanTasks: choosing('PostPlanTasks', 'To the next check, or to an end where a mandatory task failed'),
});

/** The second check: policies that OPA evaluates. */
const policyEvaluation = ({ waiting, checking, choosing }: Builders) => ({
  PolicyEvaluating: checking('PolicyEvaluating', {
    comment: 'OPA evaluates the policy sets of the workspace',
    next: 'AfterPolicyEvaluating',
    errored: 'PlanErrored',
  }),
  AfterPolicyEvaluating: choosing(
    'PolicyEvaluating',
    'To the next check, or to a person where mandatory policies failed',
  ),
  PostPlanAwaitingDecision: waiting('PostPlanAwaitingDecision', {
    comment: 'Mandatory policies failed: waits for a person to override them or to discard',
    next: 'AfterPostPlanAwaitingDecision',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 60 * days },
    result: '$.plan',
    catch: [timedOut('Discarded')],
  }),
  AfterPostPlanAwaitingDecision: choosing(
    'PostPlanAwaitingDecision',
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
  AfterCostEstimating: choosing('CostEstimating', 'To the last check, to a person, or to the apply'),
});

/** The last check: policies of three levels. */
const policyCheck = ({ waiting, checking, choosing }: Builders) => ({
  PolicyChecking: checking('PolicyChecking', {
    comment: 'Checks the policy sets with three levels: advisory, soft- and hard-mandatory',
    next: 'AfterPolicyChecking',
    errored: 'PlanErrored',
  }),
  AfterPolicyChecking: choosing(
    'PolicyChecking',
    'To a person or to the apply, or to an end where mandatory policies failed',
  ),
  PolicyOverride: waiting('PolicyOverride', {
    comment: 'Soft-mandatory policies failed: waits for a person to override them or to discard',
    next: 'AfterPolicyOverride',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 60 * days },
    result: '$.plan',
    catch: [timedOut('Discarded')],
  }),
  AfterPolicyOverride: choosing('PolicyOverride', 'To a person or to the apply: a person let the policies pass'),
});

/** A person confirms or discards. Only a saved plan lets the queue go on, and is queued again. */
const confirmation = ({ waiting }: Builders) => ({
  PlannedAndSaved: waiting('PlannedAndSaved', {
    comment: 'Keeps the plan until a person confirms or discards it; the queue goes on',
    next: 'Confirmed',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 30 * days },
    catch: [timedOut('Discarded')],
  }),
  Confirmed: waiting('Confirmed', {
    comment: 'Waits for its turn at the end of the workspace’s queue',
    next: 'ApplyQueued',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 90 * days },
  }),
  NeedsConfirmation: waiting('NeedsConfirmation', {
    comment: 'Waits for a person to confirm or discard',
    next: 'ApplyQueued',
    errored: 'PlanErrored',
    timeout: { TimeoutSeconds: 60 * days },
    catch: [timedOut('Discarded')],
  }),
});

/** A runner that stands by asks for its offer every second. */
const offerSeconds = 10;

/** Up to the start of an apply. What is not needed is entered only by a detour from ApplyQueued. */
const beforeApply = ({ waiting, tasks, tasksDone }: Builders) => ({
  PreApplyTasks: tasks('pre_apply', 'PreApplyTask', {
    comment: 'Run tasks before the apply, all at once',
    next: 'PreApplyTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PreApplyTasksDone: tasksDone('pre_apply', 'ApplyQueued', null),
  ApplyQueued: waiting('ApplyQueued', {
    comment:
      'Hands the apply to the runner that made the plan, or starts one, and waits until it is claimed; what comes first is done first',
    next: 'Applying',
    errored: 'ApplyErrored',
    timeout: { TimeoutSeconds: offerSeconds },
    catch: [
      detour('NeedsConfirmation'),
      detour('PreApplyTasks'),
      { ErrorEquals: ['TaskStageFailed'], ResultPath: '$.error', Next: 'PlanErrored' },
      { ErrorEquals: ['States.Timeout'], ResultPath: null, Next: 'ApplyUnclaimed' },
    ],
  }),
  // Not ApplyQueued again: the new attempt waits as long as a container may take to start.
  ApplyUnclaimed: waiting('ApplyQueued', {
    comment: 'Starts a runner if the one that was offered the apply has not claimed it, and waits until it is claimed',
    payload: { isUnclaimed: true },
    next: 'Applying',
    errored: 'ApplyErrored',
    timeout: { TimeoutSeconds: 3600 },
  }),
});

/** The apply, and what follows it. */
const apply = ({ waiting, tasks, tasksDone, ending }: Builders) => ({
  Applying: waiting('Applying', {
    comment: 'Waits for terraform apply; the runner beats',
    next: 'Applied',
    errored: 'ApplyErrored',
    timeout: { TimeoutSecondsPath: '$.applyTimeoutSeconds', HeartbeatSeconds: 60 },
    catch: [missedHeartbeat('ApplyErrored')],
  }),
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
    ...tasksDone('post_apply', 'Applied', '$.postApply'),
    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.postApply', Next: 'Applied' }],
  },
  Applied: ending('Finishes the run as applied, starts the next; post-apply tasks are run first', [
    detour('PostApplyTasks'),
  ]),
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
