import { describe, expect, it } from 'vitest';
import { isFinal, runStatuses } from '#run/status.ts';
import { decideCallback } from '#run/task-callback.ts';
import {
  isResultFinal,
  type ResultFacts,
  type StageFacts,
  shownResultStatus,
  stagesOf,
  stageVerdict,
  type TaskResultStatus,
  taskStageStatus,
  taskStageTimestamps,
} from '#run/task-stages.ts';
import { newRun } from '#test/support/run.ts';

const result = (change: Partial<ResultFacts> = {}): ResultFacts => ({
  status: 'passed',
  stage: 'post_plan',
  taskName: 'scan',
  enforcementLevel: 'mandatory',
  ...change,
});

const statuses: TaskResultStatus[] = ['pending', 'running', 'passed', 'failed', 'errored', 'canceled', 'unreachable'];

describe('the outcome of a stage', () => {
  it.each(statuses)('a mandatory task that is %s', (status) => {
    const { verdict, message } = stageVerdict([result(), result({ status, taskName: 'cost' })]);
    expect(verdict).toBe(status === 'passed' ? 'passed' : 'failed');
    if (status !== 'passed') expect(message).toBe('the run failed because the run task "cost" is required to succeed');
  });

  it.each(statuses)('an advisory task that is %s never fails it, and leaves a warning', (status) => {
    const { verdict, message } = stageVerdict([result(), result({ status, enforcementLevel: 'advisory' })]);
    expect(verdict).toBe('passed');
    const warning = 'the run task "scan" did not succeed, but the run continues';
    expect(message).toBe(status === 'passed' ? undefined : warning);
  });

  it('warns of every advisory task that failed', () => {
    const failed = ['a', 'b'].map((taskName) => result({ taskName, status: 'failed', enforcementLevel: 'advisory' }));
    expect(stageVerdict([result(), ...failed]).message).toBe(
      'the run tasks "a", "b" did not succeed, but the run continues',
    );
  });

  it('has the most restrictive result, and names every failed mandatory task', () => {
    const advisory = Array.from({ length: 20 }, () => result({ enforcementLevel: 'advisory' }));
    const failed = ['a', 'b'].map((taskName) => result({ taskName, status: 'failed' }));
    expect(stageVerdict([...advisory, ...failed]).message).toBe(
      'the run failed because the run tasks "a", "b" are required to succeed',
    );
  });

  it('is at most a warning after the apply', () => {
    const { verdict, message } = stageVerdict([result({ stage: 'post_apply', status: 'failed' })]);
    expect([verdict, message]).toEqual(['passed', expect.stringContaining('but the run continues')]);
  });

  it('is passed without results', () => {
    expect(stageVerdict([])).toEqual({ verdict: 'passed' });
  });
});

const begun = { 'post-plan-running-at': '2026-01-01T00:00:01.000Z' };
const over = { ...begun, 'post-plan-completed-at': '2026-01-01T00:00:02.000Z' };
const run = (change: Partial<StageFacts>): StageFacts => ({
  ...newRun(),
  checks: { tasks: { post_plan: { id: 'ts-1', taskResultIds: [] } } },
  ...change,
});

describe('the display of a stage', () => {
  it.each<[string, Partial<StageFacts>, string]>([
    ['before the run has come to it', { status: 'planning' }, 'pending'],
    ['while tasks are at work', { status: 'post_plan_running', statusTimestamps: begun }, 'running'],
    [
      'after its verdict, until the status that follows is written',
      { status: 'post_plan_running', statusTimestamps: begun, verdicts: { post_plan: 'passed' } },
      'running',
    ],
    ['with the status that follows', { status: 'post_plan_completed', statusTimestamps: over }, 'passed'],
    ['later', { status: 'applied', statusTimestamps: over }, 'passed'],
    [
      'while an override is requested',
      { status: 'post_plan_awaiting_decision', statusTimestamps: begun },
      'awaiting_override',
    ],
    [
      'when it failed the run',
      { status: 'errored', statusTimestamps: begun, verdicts: { post_plan: 'failed' } },
      'failed',
    ],
    [
      'when its policies failed the run',
      { status: 'errored', statusTimestamps: begun, verdicts: { post_plan: 'passed', policyEvaluation: 'failed' } },
      'failed',
    ],
    ['when the run was stopped meanwhile', { status: 'errored', statusTimestamps: begun }, 'errored'],
    ['when the run was canceled meanwhile', { status: 'canceled', statusTimestamps: begun }, 'canceled'],
    ['when the run ended before it', { status: 'errored' }, 'unreachable'],
    ['when the run was canceled before it', { status: 'canceled' }, 'unreachable'],
  ])('%s', (_, change, expected) => {
    expect(taskStageStatus(run(change), 'post_plan')).toBe(expected);
  });

  it('has no open result once the run is final', () => {
    for (const status of runStatuses.filter(isFinal)) {
      for (const statusTimestamps of [{}, begun, over]) {
        for (const open of ['pending', 'running'] as const) {
          const shown = shownResultStatus({ status: open, stage: 'post_plan' }, run({ status, statusTimestamps }));
          expect([status, isResultFinal(shown)]).toEqual([status, true]);
        }
        const stage = taskStageStatus(run({ status, statusTimestamps }), 'post_plan');
        expect(['pending', 'running', 'awaiting_override']).not.toContain(stage);
      }
    }
  });

  it("keeps a task's report", () => {
    const canceled = run({ status: 'canceled', statusTimestamps: begun });
    expect(shownResultStatus({ status: 'failed', stage: 'post_plan' }, canceled)).toBe('failed');
    expect(shownResultStatus({ status: 'unreachable', stage: 'post_plan' }, canceled)).toBe('unreachable');
  });

  it('shows the time at which it was reached', () => {
    expect(taskStageTimestamps(run({ status: 'post_plan_completed', statusTimestamps: over }), 'post_plan')).toEqual({
      'running-at': begun['post-plan-running-at'],
      'passed-at': over['post-plan-completed-at'],
    });
    expect(taskStageTimestamps(run({ status: 'planning' }), 'post_plan')).toEqual({});
  });

  it('exists for tasks, and at post-plan also for policies', () => {
    expect(stagesOf(newRun() as StageFacts)).toEqual([]);
    expect(stagesOf(run({}))).toEqual(['post_plan']);
    expect(stagesOf({ checks: { policyEvaluation: true } })).toEqual(['post_plan']);
  });
});

describe('the effect of a callback', () => {
  it.each<[TaskResultStatus, 'running' | 'passed' | 'failed', boolean, string]>([
    ['pending', 'running', false, 'record'],
    ['running', 'running', false, 'record'],
    ['running', 'passed', false, 'record'],
    ['pending', 'failed', false, 'record'],
    ['running', 'passed', true, 'unreachable'],
    ['pending', 'running', true, 'unreachable'],
    ['canceled', 'passed', true, 'unreachable'],
    ['unreachable', 'passed', true, 'repeat'],
    ['passed', 'passed', false, 'repeat'],
    ['failed', 'failed', true, 'repeat'],
    ['passed', 'failed', false, 'conflict'],
    ['failed', 'running', false, 'conflict'],
    ['errored', 'passed', false, 'conflict'],
    ['errored', 'running', true, 'conflict'],
  ])('a result that is %s receives %s (run over: %s): %s', (status, reported, runIsOver, expected) => {
    expect(decideCallback(status, reported, { runIsOver })).toBe(expected);
  });
});
