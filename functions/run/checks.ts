import type { TaskStage } from './check-record.ts';
import { awaitsCostEstimate } from './cost-estimate.ts';
import type { Run } from './run.ts';
import type { RunStatus } from './status.ts';

/**
 * The steps between a configuration and its apply: fetching, run tasks, policies, cost estimates. A run's steps are
 * fixed when it is created; a step that is not configured leaves no trace. Pure.
 */

type Facts = Pick<Run, 'checks' | 'verdicts' | 'overrides' | 'costEstimate'>;

/** Whether the run has tasks in the stage that have not started yet. */
export const hasOpenStage = ({ checks, verdicts }: Facts, stage: TaskStage): boolean =>
  checks?.tasks?.[stage] !== undefined && !verdicts?.[stage];

/** Whether the run's configuration has not arrived yet. */
export const awaitsConfiguration = ({ checks, verdicts }: Facts): boolean =>
  checks?.fetching === true && !verdicts?.fetching;

/** The next check of a finished plan, or the ending if a check failed; undefined when all checks have passed. */
export const nextCheck = (run: Facts & Pick<Run, 'planOnly'>) => {
  const { checks = {}, verdicts = {}, overrides = {}, planOnly } = run;
  if (checks.tasks?.post_plan && !verdicts.post_plan) return 'PostPlanTasks';
  if (verdicts.post_plan === 'failed') return 'PlanErrored';
  if (checks.policyEvaluation && !verdicts.policyEvaluation) return 'PolicyEvaluating';
  if (verdicts.policyEvaluation === 'failed') return 'PlanErrored';
  if (verdicts.policyEvaluation === 'overridable' && !overrides.policyEvaluation) {
    // No override is requested for a plan that will not be applied.
    return planOnly ? 'PlanErrored' : 'PostPlanAwaitingDecision';
  }
  if (awaitsCostEstimate(run)) return 'CostEstimating';
  if (checks.policyCheck && !verdicts.policyCheck) return 'PolicyChecking';
  if (verdicts.policyCheck === 'hard_failed') return 'PlanErrored';
  if (verdicts.policyCheck === 'soft_failed' && !overrides.policyCheck) {
    return planOnly ? 'PolicySoftFailed' : 'PolicyOverride';
  }
  return undefined;
};

/** Whether the post-plan stage, of tasks and OPA policies, has passed. */
const postPlanPassed = ({ checks = {}, verdicts = {}, overrides = {} }: Facts): boolean => {
  if (!checks.tasks?.post_plan && !checks.policyEvaluation) return false;
  if (checks.tasks?.post_plan && verdicts.post_plan !== 'passed') return false;
  return !checks.policyEvaluation || verdicts.policyEvaluation === 'passed' || overrides.policyEvaluation !== undefined;
};

/** An errored estimate counts as completed: it never fails a run. */
const isCostEstimated = ({ costEstimate }: Facts): boolean =>
  costEstimate?.status === 'finished' || costEstimate?.status === 'errored';

/** Statuses that mark a completed step, in their order. The next write stamps each of them for the timeline. */
export const completed = (run: Facts & Pick<Run, 'plan'>): RunStatus[] => {
  const { verdicts = {}, overrides = {} } = run;
  const all: [RunStatus, boolean][] = [
    ['fetching_completed', verdicts.fetching === 'passed'],
    ['pre_plan_completed', verdicts.pre_plan === 'passed'],
    ['planned', run.plan.report?.outcome === 'finished'],
    ['post_plan_completed', postPlanPassed(run)],
    ['cost_estimated', isCostEstimated(run)],
    ['policy_checked', verdicts.policyCheck === 'passed' || overrides.policyCheck !== undefined],
    ['pre_apply_completed', verdicts.pre_apply === 'passed'],
    ['post_apply_completed', verdicts.post_apply !== undefined],
  ];
  return all.filter(([, is]) => is).map(([status]) => status);
};

/** The status while a finished plan waits for a decision: the status of the last completed step. */
export const restingStatus = (run: Facts & Pick<Run, 'plan'>): RunStatus =>
  completed(run).findLast((status) => status !== 'pre_apply_completed') ?? 'planned';
