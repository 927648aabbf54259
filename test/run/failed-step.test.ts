import { expect, it } from 'vitest';
import { failedStep, failedStepOf } from '#run/failed-step.ts';
import type { Run } from '#run/run.ts';
import { newRun } from '#test/support/run.ts';

const planned: Partial<Run> = {
  status: 'errored',
  statusTimestamps: { 'planning-at': '2026-01-01T00:00:00.000Z' },
  plan: { status: 'finished', statusTimestamps: {}, report: { outcome: 'finished', hasChanges: true } },
};
const task = { id: 'ts-1', taskResultIds: ['taskrs-1'] };

it.each<[string, Partial<Run>, string | undefined]>([
  ['nothing of a run in progress', { status: 'planned' }, undefined],
  ['nothing of a canceled run', { status: 'canceled' }, undefined],
  ['nothing of a run whose Terraform failed', planned, undefined],
  ['the fetching', { status: 'errored', verdicts: { fetching: 'failed' } }, 'configuration not fetched'],
  ['the missing start of the plan', { status: 'errored' }, 'not planned'],
  ['run tasks before the plan', { status: 'errored', verdicts: { pre_plan: 'failed' } }, 'run task'],
  ['run tasks after the plan', { ...planned, verdicts: { post_plan: 'failed' } }, 'run task'],
  ['run tasks before the apply', { ...planned, verdicts: { pre_apply: 'failed' } }, 'run task'],
  [
    'policies evaluated after the plan',
    { ...planned, checks: { policyEvaluation: true }, verdicts: { policyEvaluation: 'failed' } },
    'policy check',
  ],
  [
    'policies that cannot be overridden, because the run is plan-only',
    { ...planned, planOnly: true, checks: { policyEvaluation: true }, verdicts: { policyEvaluation: 'overridable' } },
    'policy check',
  ],
  [
    'hard-mandatory policies',
    { ...planned, checks: { policyCheck: true }, verdicts: { policyCheck: 'hard_failed' } },
    'policy check',
  ],
  [
    'soft-mandatory policies of a plan-only run',
    {
      ...planned,
      status: 'policy_soft_failed',
      planOnly: true,
      checks: { policyCheck: true },
      verdicts: { policyCheck: 'soft_failed' },
    },
    'policy check',
  ],
  [
    'nothing of an apply that failed after an override',
    {
      ...planned,
      checks: { policyCheck: true },
      verdicts: { policyCheck: 'soft_failed' },
      overrides: { policyCheck: { by: 'user-1', at: '' } },
    },
    undefined,
  ],
])('the failed step names %s', (_, change, step) => {
  expect(failedStep(newRun(change))).toBe(step);
});

it('the failed step names the run tasks for users who can read the run', () => {
  const run = newRun({ ...planned, checks: { tasks: { post_plan: task } }, verdicts: { post_plan: 'failed' } });
  expect(failedStepOf(run)).toBe('run task');
  expect(failedStepOf({ ...run, failedTasks: ['scan'] })).toBe('run task scan');
  expect(failedStepOf({ ...run, failedTasks: ['scan', 'cost-control'] })).toBe('run tasks scan, cost-control');
});
