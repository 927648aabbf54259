import { describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import type { RunStatus } from '#run/status.ts';
import { newRun } from '#test/support/run.ts';
import { commentOf } from '#version-control/comment-words.ts';
import { ofRun } from '#version-control/status-words.ts';

const report = { outcome: 'finished', hasChanges: true, counts: { additions: 2 } } as const;
const planned = { status: 'finished', statusTimestamps: {}, report } as const;
const wordsOf = (status: RunStatus, change: Partial<Run> = {}) => ofRun(newRun({ status, ...change }));

describe('the commit status of a run', () => {
  it('names the stage that the run is in', () => {
    const descriptions: Partial<Record<RunStatus, string>> = {
      pending: 'Waiting for its turn',
      fetching: 'Fetching the commit',
      pre_plan_running: 'Run tasks are running',
      pre_plan_completed: 'Waiting for the plan',
      planning: 'Planning',
      cost_estimating: 'Estimating costs',
      policy_checking: 'Checking policies',
    };
    for (const [status, description] of Object.entries(descriptions))
      expect(wordsOf(status as RunStatus)).toEqual({ state: 'pending', description });
  });

  it('is pending while failed policies wait for an override, of either kind', () => {
    for (const status of ['policy_override', 'post_plan_awaiting_decision'] as const) {
      const description = 'A policy failed: waits for an override';
      expect(wordsOf(status, { plan: planned })).toEqual({ state: 'pending', description });
    }
  });

  it('stays pending after the plan until no check can follow', () => {
    for (const status of ['planned', 'cost_estimated', 'policy_checked'] as const) {
      expect(wordsOf(status, { plan: planned })).toEqual({ state: 'pending', description: 'Checking the plan' });
      const wait = { state: 'NeedsConfirmation' } as Run['wait'];
      expect(wordsOf(status, { plan: planned, wait }).state).toBe('success');
    }
  });

  it('names the stage that failed, without names of run tasks', () => {
    const begun = { statusTimestamps: { 'planning-at': '2026-01-01T00:00:00.000Z' } };
    const failed: [string, Partial<Run>][] = [
      ['The commit could not be fetched', { verdicts: { fetching: 'failed' } }],
      ['The plan could not be started', {}],
      ['Plan failed', begun],
      ['A run task failed', { ...begun, verdicts: { post_plan: 'failed' }, failedTasks: ['cost-control'] }],
      ['A policy failed', { ...begun, checks: { policyEvaluation: true }, verdicts: { policyEvaluation: 'failed' } }],
    ];
    for (const [description, change] of failed)
      expect(wordsOf('errored', change)).toEqual({ state: 'failure', description });
  });

  it('shows the plan from the confirmation on', () => {
    for (const status of ['confirmed', 'pre_apply_running', 'applying', 'applied'] as const) {
      const description = 'Plan: 2 to add, 0 to change, 0 to destroy';
      expect(wordsOf(status, { plan: planned })).toEqual({ state: 'success', description });
    }
  });
});

it('the comment on a pull request shows the apply of a saved plan from the confirmation to its end', () => {
  const place = { organization: 'acme', identifier: 'acme/network', sha: 'a'.repeat(40), base: 'https://tf.test' };
  const planOf = (status: RunStatus) => commentOf([newRun({ status, savePlan: true, plan: planned })], place);
  expect(planOf('planned_and_saved')).toContain('| 2 to add, 0 to change, 0 to destroy |');
  for (const status of ['confirmed', 'pre_apply_running', 'applying'] as const)
    expect(planOf(status)).toContain('| Applying: 2 to add, 0 to change, 0 to destroy |');
  expect(planOf('applied')).toContain('| Applied: 2 to add, 0 to change, 0 to destroy |');
});
