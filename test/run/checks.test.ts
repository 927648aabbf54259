import { describe, expect, it } from 'vitest';
import { completed, nextCheck, restingStatus } from '#run/checks.ts';
import { endReason } from '#run/ending.ts';
import { nextStep, resume } from '#run/lifecycle.ts';
import type { Run } from '#run/run.ts';
import { newRun } from '#test/support/run.ts';

const stage = { id: 'ts-1', taskResultIds: ['taskrs-1'] };
const by = { by: 'user-1', at: '' };
const planned: Partial<Run> = {
  plan: { status: 'finished', statusTimestamps: {}, report: { outcome: 'finished', hasChanges: true } },
};
const pending = { status: 'pending', statusTimestamps: {} } as const;
const everything: Partial<Run> = {
  ...planned,
  checks: { tasks: { post_plan: stage }, policyEvaluation: true, policyCheck: true },
  costEstimate: pending,
};

describe('the checks of a finished plan', () => {
  it.each<[string, Partial<Run>, string | undefined]>([
    ['no checks', planned, undefined],
    ['run tasks are first', everything, 'PostPlanTasks'],
    ['OPA is after run tasks', { ...everything, verdicts: { post_plan: 'passed' } }, 'PolicyEvaluating'],
    [
      'the estimate is after OPA',
      { ...everything, verdicts: { post_plan: 'passed', policyEvaluation: 'passed' } },
      'CostEstimating',
    ],
    [
      'the policy check is after the estimate, even an errored one',
      {
        ...everything,
        verdicts: { post_plan: 'passed', policyEvaluation: 'passed' },
        costEstimate: { status: 'errored', statusTimestamps: {} },
      },
      'PolicyChecking',
    ],
    ['a mandatory task fails the run', { ...everything, verdicts: { post_plan: 'failed' } }, 'PlanErrored'],
    [
      'a mandatory policy fails the run',
      { ...planned, checks: { policyEvaluation: true }, verdicts: { policyEvaluation: 'failed' } },
      'PlanErrored',
    ],
    [
      'an overridable policy requests an override',
      { ...planned, checks: { policyEvaluation: true }, verdicts: { policyEvaluation: 'overridable' } },
      'PostPlanAwaitingDecision',
    ],
    [
      'no override is requested for a plan that will not be applied',
      { ...planned, planOnly: true, checks: { policyEvaluation: true }, verdicts: { policyEvaluation: 'overridable' } },
      'PlanErrored',
    ],
    [
      'a soft-mandatory failure requests an override',
      { ...planned, checks: { policyCheck: true }, verdicts: { policyCheck: 'soft_failed' } },
      'PolicyOverride',
    ],
    [
      'an override of the evaluation does not override the policy check',
      {
        ...planned,
        checks: { policyEvaluation: true, policyCheck: true },
        verdicts: { policyEvaluation: 'overridable', policyCheck: 'soft_failed' },
        overrides: { policyEvaluation: by },
      },
      'PolicyOverride',
    ],
    [
      'an overridden policy check continues',
      {
        ...planned,
        checks: { policyCheck: true },
        verdicts: { policyCheck: 'soft_failed' },
        overrides: { policyCheck: by },
      },
      undefined,
    ],
    [
      'a soft-mandatory failure ends a plan-only run',
      { ...planned, planOnly: true, checks: { policyCheck: true }, verdicts: { policyCheck: 'soft_failed' } },
      'PolicySoftFailed',
    ],
    [
      'a hard-mandatory failure ends the run',
      { ...planned, checks: { policyCheck: true }, verdicts: { policyCheck: 'hard_failed' } },
      'PlanErrored',
    ],
  ])('%s', (_, run, next) => {
    expect(nextCheck(newRun(run))).toBe(next);
  });
});

describe('a plan that waits for a decision', () => {
  it.each<[Partial<Run>, string]>([
    [planned, 'planned'],
    [{ ...planned, checks: { tasks: { post_plan: stage } }, verdicts: { post_plan: 'passed' } }, 'post_plan_completed'],
    [{ ...planned, costEstimate: { status: 'errored', statusTimestamps: {} } }, 'cost_estimated'],
    [
      {
        ...planned,
        checks: { policyCheck: true },
        verdicts: { policyCheck: 'soft_failed' },
        overrides: { policyCheck: by },
      },
      'policy_checked',
    ],
  ])('rests in the status of the last step that ran: %#', (run, status) => {
    expect(restingStatus(newRun(run))).toBe(status);
  });

  it('has not completed its post-plan stage while one part of it is open', () => {
    const run = newRun({
      ...planned,
      checks: { tasks: { post_plan: stage }, policyEvaluation: true },
      verdicts: { post_plan: 'passed', policyEvaluation: 'overridable' },
    });
    expect(completed(run)).toEqual(['planned']);
    expect(completed({ ...run, overrides: { policyEvaluation: by } })).toEqual(['planned', 'post_plan_completed']);
  });
});

describe('the steps that a plan has completed', () => {
  const tasks = { tasks: { post_plan: stage } };
  const evaluated = { policyEvaluation: true } as const;
  it.each<[string, Partial<Run>, string[]]>([
    ['without checks', {}, ['planned']],
    ['before the result of its tasks', { checks: tasks }, ['planned']],
    ['with passed tasks', { checks: tasks, verdicts: { post_plan: 'passed' } }, ['planned', 'post_plan_completed']],
    ['with failed tasks', { checks: tasks, verdicts: { post_plan: 'failed' } }, ['planned']],
    [
      'with passed policies',
      { checks: evaluated, verdicts: { policyEvaluation: 'passed' } },
      ['planned', 'post_plan_completed'],
    ],
    ['with an estimate in progress', { costEstimate: pending }, ['planned']],
    ['with an estimate', { costEstimate: { ...pending, status: 'finished' } }, ['planned', 'cost_estimated']],
    [
      'with a passed policy check',
      { checks: { policyCheck: true }, verdicts: { policyCheck: 'passed' } },
      ['planned', 'policy_checked'],
    ],
    ['with a soft failure', { checks: { policyCheck: true }, verdicts: { policyCheck: 'soft_failed' } }, ['planned']],
  ])('%s', (_, change, expected) => {
    expect(completed(newRun({ ...planned, ...change }))).toEqual(expected);
  });
});

describe('a run with run tasks in several stages', () => {
  const run = newRun({ current: true, checks: { fetching: true, tasks: { pre_plan: stage, post_apply: stage } } });

  it('has its configuration, then each stage before the following phase', () => {
    expect(nextStep(run)).toBe('Fetching');
    const fetched: Run = { ...run, verdicts: { fetching: 'passed' } };
    expect(nextStep(fetched)).toBe('PrePlanTasks');
    expect(nextStep({ ...fetched, verdicts: { fetching: 'passed', pre_plan: 'passed' } })).toBe('PlanQueued');
    const applied: Run = {
      ...fetched,
      apply: { status: 'running', statusTimestamps: {}, report: { outcome: 'finished' } },
    };
    expect(nextStep(applied)).toBe('PostApplyTasks');
    expect(nextStep({ ...applied, verdicts: { post_apply: 'passed' } })).toBe('Applied');
  });

  it('ends with the reason when a stage fails', () => {
    const failed: Run = { ...run, verdicts: { fetching: 'passed', pre_plan: 'failed' }, failure: 'The task said no.' };
    expect(nextStep(failed)).toBe('PlanErrored');
    expect(endReason(failed, 'PlanErrored', undefined)).toBe('The task said no.');
  });

  it('leads to no further state after a cancel', () => {
    const cancel = { by: 'user-1', at: '', forceAvailableAt: '' };
    expect(nextStep({ ...run, cancel })).toBe('Canceled');
    expect(resume({ ...run, wait: { state: 'PlanQueued', token: 't' }, cancel })).toMatchObject({ error: 'Canceled' });
  });
});
