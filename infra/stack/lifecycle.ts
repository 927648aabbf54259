import { resumeErrors } from '#run/lifecycle.ts';
import { type Arns, type Builders, builders, days } from './state-builders.ts';
import { missedHeartbeat, outcomes, timedOut } from './state-errors.ts';

/**
 * The life of a run. The console of Step Functions and the run's page show the same steps. Every waiting state passes
 * its task token to a Lambda function, which stores it with the run. Every path leads to exactly one ending; all
 * endings invoke the same finisher, each with its own status.
 *
 * States are listed in the order in which runs enter them, and a run enters each state at most once. A step with
 * several successors is followed by a Choice on the step's result. A step that is not configured is skipped and costs
 * nothing. A state catches only stops, failures and time limits (decisions/0198).
 *
 * Input: `{runId, workspaceId, planTimeoutSeconds, applyTimeoutSeconds, taskResults?: {[stage]: ids}, result:
 * {next}}`, where `next` is the first state of the run. Inputs and outputs contain only ids and facts for Choices.
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

/** Up to the start of a plan. A run that is created in a free workspace has claimed the queue already. */
const beforePlan = ({ waiting, awaitingTurn, tasks, tasksDone, choosing }: Builders) => ({
  AfterCreation: choosing('Creation', 'PlanQueued', 'Chooses the plan, or the first state that the new run waits in'),
  Pending: awaitingTurn({
    comment: 'Waits until the run is first in its workspace’s queue and the workspace is unlocked',
    next: 'AfterPending',
    chooses: true,
  }),
  AfterPending: choosing(
    'Pending',
    'PlanQueued',
    'Chooses the upload of the configuration, the pre-plan run tasks, or the plan',
  ),
  Fetching: waiting('Fetching', {
    comment: 'Waits until the configuration is uploaded',
    next: 'AfterFetching',
    timeout: { TimeoutSeconds: 3600 },
    chooses: true,
  }),
  AfterFetching: choosing('Fetching', 'PlanQueued', 'Chooses the pre-plan run tasks or the plan'),
  PrePlanTasks: tasks('pre_plan', 'PrePlanTask', {
    comment: 'Calls all pre-plan run tasks in parallel',
    next: 'PrePlanTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PrePlanTasksDone: tasksDone('pre_plan', 'AfterPrePlanTasks'),
  AfterPrePlanTasks: choosing(
    'PrePlanTasks',
    'PlanQueued',
    'Chooses the plan, or an ending if a mandatory task failed',
  ),
  PlanAwaitingSlot: awaitingTurn({
    comment: 'Waits until the plan may start a runner, where the operator limits their number',
    next: 'PlanQueued',
  }),
  PlanQueued: waiting('PlanQueued', {
    comment: 'Starts a runner and waits until it claims the plan',
    next: 'Planning',
    timeout: { TimeoutSeconds: 3600 },
  }),
});

/** The plan. The runner's report chooses the first check after it, if any. */
const plan = ({ entering, choosing }: Builders) => ({
  Planning: entering({
    comment: 'Waits for terraform plan; the runner sends heartbeats',
    next: 'AfterPlanning',
    timeout: { TimeoutSecondsPath: '$.planTimeoutSeconds', HeartbeatSeconds: 60 },
    chooses: true,
    catch: [missedHeartbeat('PlanErrored')],
  }),
  AfterPlanning: choosing(
    'Planning',
    'NeedsConfirmation',
    'Chooses the first check of the plan, the confirmation, or the apply, which the plan’s runner may have claimed',
  ),
});

/** The first check of a plan: run tasks. */
const postPlanTasks = ({ tasks, tasksDone, choosing }: Builders) => ({
  PostPlanTasks: tasks('post_plan', 'PostPlanTask', {
    comment: 'Calls all post-plan run tasks in parallel',
    next: 'PostPlanTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PostPlanTasksDone: tasksDone('post_plan', 'AfterPostPlanTasks'),
  AfterPostPlanTasks: choosing(
    'PostPlanTasks',
    'NeedsConfirmation',
    'Chooses the next check, or an ending if a mandatory task failed',
  ),
});

/** The second check: policies that OPA evaluates. */
const policyEvaluation = ({ deciding, checking, choosing }: Builders) => ({
  PolicyEvaluating: checking('PolicyEvaluating', {
    comment: 'OPA evaluates the policy sets of the workspace',
    next: 'AfterPolicyEvaluating',
  }),
  AfterPolicyEvaluating: choosing(
    'PolicyEvaluating',
    'NeedsConfirmation',
    'Chooses the next check, or the override if mandatory policies failed',
  ),
  PostPlanAwaitingDecision: deciding(
    'AfterPostPlanAwaitingDecision',
    'Waits until a user overrides the failed mandatory policies or discards the run',
  ),
  AfterPostPlanAwaitingDecision: choosing(
    'PostPlanAwaitingDecision',
    'NeedsConfirmation',
    'Chooses the next check after the override',
  ),
});

/** The third check. It cannot fail a run. */
const costEstimate = ({ checking, choosing }: Builders) => ({
  CostEstimating: {
    ...checking('CostEstimating', {
      comment: 'Estimates the cost of the plan; cannot fail the run',
      next: 'AfterCostEstimating',
    }),
    Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.costError', Next: 'CostEstimateErrored' }],
  },
  CostEstimateErrored: checking('CostEstimating', {
    comment: 'Records that the cost estimate failed; the run continues',
    payload: { 'error.$': '$.costError' },
    next: 'AfterCostEstimating',
  }),
  AfterCostEstimating: choosing(
    'CostEstimating',
    'NeedsConfirmation',
    'Chooses the last check, the confirmation, or the apply',
  ),
});

/** The last check: policy sets with three enforcement levels. */
const policyCheck = ({ deciding, checking, choosing }: Builders) => ({
  PolicyChecking: checking('PolicyChecking', {
    comment: 'Checks the policy sets with three enforcement levels: advisory, soft- and hard-mandatory',
    next: 'AfterPolicyChecking',
  }),
  AfterPolicyChecking: choosing(
    'PolicyChecking',
    'NeedsConfirmation',
    'Chooses the confirmation or the apply, or an ending if mandatory policies failed',
  ),
  PolicyOverride: deciding(
    'AfterPolicyOverride',
    'Waits until a user overrides the failed soft-mandatory policies or discards the run',
  ),
  AfterPolicyOverride: choosing(
    'PolicyOverride',
    'NeedsConfirmation',
    'Chooses the confirmation or the apply after the override',
  ),
});

/** A user confirms or discards. Only a saved plan releases the queue; once confirmed, it queues again. */
const confirmation = ({ deciding, waiting, choosing }: Builders) => ({
  PlannedAndSaved: waiting('PlannedAndSaved', {
    comment: 'Waits until a user confirms or discards the saved plan; other runs of the workspace continue',
    next: 'Confirmed',
    timeout: { TimeoutSeconds: 30 * days },
    catch: [timedOut('Discarded')],
  }),
  Confirmed: waiting('Confirmed', {
    comment: 'Waits until the confirmed saved plan is first in its workspace’s queue',
    next: 'AfterConfirmation',
    timeout: { TimeoutSeconds: 90 * days },
    chooses: true,
  }),
  NeedsConfirmation: deciding('AfterConfirmation', 'Waits until a user confirms or discards the run'),
  AfterConfirmation: choosing('Confirmation', 'ApplyQueued', 'Chooses the pre-apply run tasks or the apply'),
});

/** Up to the start of an apply. */
const beforeApply = ({ deciding, waiting, awaitingTurn, tasks, tasksDone, choosing }: Builders) => ({
  PreApplyTasks: tasks('pre_apply', 'PreApplyTask', {
    comment: 'Calls all pre-apply run tasks in parallel',
    next: 'PreApplyTasksDone',
    catch: outcomes('PlanErrored'),
  }),
  PreApplyTasksDone: tasksDone('pre_apply', 'AfterPreApplyTasks'),
  AfterPreApplyTasks: choosing(
    'PreApplyTasks',
    'ApplyQueued',
    'Chooses a runner, an ending if a mandatory task failed, or the confirmation if automatic apply was withdrawn',
  ),
  NeedsConfirmationAfterTasks: deciding(
    'AfterConfirmationAfterTasks',
    'Waits until a user confirms or discards the run, whose authors lost the permission to apply',
  ),
  AfterConfirmationAfterTasks: choosing('ConfirmationAfterTasks', 'ApplyQueued', 'Chooses the apply'),
  ApplyAwaitingSlot: awaitingTurn({
    comment: 'Waits until the apply may start a runner, where the operator limits their number',
    next: 'ApplyQueued',
    errored: 'ApplyErrored',
  }),
  ApplyQueued: waiting('ApplyQueued', {
    comment: 'Reserves the runner of the plan if it is ready, or starts one, and waits until it claims the apply',
    next: 'Applying',
    errored: 'ApplyErrored',
    timeout: { TimeoutSeconds: 3600 },
  }),
});

/** The apply and its run tasks. */
const apply = ({ entering, tasks, tasksDone, choosing, ending }: Builders) => ({
  Applying: entering({
    comment: 'Waits for terraform apply; the runner sends heartbeats',
    next: 'AfterApplying',
    errored: 'ApplyErrored',
    timeout: { TimeoutSecondsPath: '$.applyTimeoutSeconds', HeartbeatSeconds: 60 },
    chooses: true,
    catch: [missedHeartbeat('ApplyErrored')],
  }),
  AfterApplying: choosing('Applying', 'Applied', 'Chooses the post-apply run tasks or the end'),
  // A failure here cannot undo the apply; a cancel ends the run as canceled (HCP Terraform: run states).
  PostApplyTasks: tasks('post_apply', 'PostApplyTask', {
    comment: 'Calls all post-apply run tasks in parallel; a failure is only a warning',
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
  Applied: ending('Finishes the run as applied and starts the next one'),
});

/** All other endings: each finishes the run with its own status. */
const otherEndings = ({ ending }: Builders) => ({
  PlannedAndFinished: ending('Finishes the run with nothing to apply and starts the next one'),
  PolicySoftFailed: ending('Finishes a plan-only run whose soft-mandatory policies failed'),
  PlanErrored: ending('Finishes the run as errored before its apply and starts the next one'),
  ApplyErrored: ending('Finishes the run as errored in its apply and starts the next one'),
  Discarded: ending('Finishes the run as discarded and starts the next one'),
  Canceled: ending('Finishes the run as canceled and starts the next one'),
});
