import { expect, it } from 'vitest';
import { policyCheckStatus, policyEvaluationStatus, policyTimestamps } from '#run/policy-status.ts';
import type { Run } from '#run/run.ts';
import { newRun } from '#test/support/run.ts';

const at = '2026-01-01T00:00:01.000Z';
const by = { by: 'user-1', at: '2026-01-01T00:00:02.000Z' };
const checking = { statusTimestamps: { 'policy-checking-at': at } };
const evaluating = { statusTimestamps: { 'post-plan-running-at': at } };

it.each<[string, Partial<Run>, string]>([
  ['of a run that has not come to it', { status: 'planning' }, 'pending'],
  ['under way', { status: 'policy_checking', ...checking }, 'queued'],
  [
    'with a verdict that the status does not show yet',
    { status: 'policy_checking', verdicts: { policyCheck: 'passed' } },
    'queued',
  ],
  ['that passed', { status: 'policy_checked', verdicts: { policyCheck: 'passed' } }, 'passed'],
  ['that soft-failed', { status: 'policy_override', verdicts: { policyCheck: 'soft_failed' } }, 'soft_failed'],
  [
    'that was overridden',
    { status: 'policy_checked', verdicts: { policyCheck: 'soft_failed' }, overrides: { policyCheck: by } },
    'overridden',
  ],
  [
    'with an override of the evaluation',
    { status: 'policy_override', verdicts: { policyCheck: 'soft_failed' }, overrides: { policyEvaluation: by } },
    'soft_failed',
  ],
  ['that hard-failed', { status: 'errored', verdicts: { policyCheck: 'hard_failed' } }, 'hard_failed'],
  ['that an error has ended', { status: 'errored', ...checking }, 'errored'],
  ['that a cancel has ended', { status: 'canceled', ...checking }, 'canceled'],
  ['of a run that ended before it', { status: 'errored' }, 'unreachable'],
])('a policy check %s is %3$s', (_, change, expected) => {
  expect(policyCheckStatus(newRun(change))).toBe(expected);
});

it.each<[string, Partial<Run>, string]>([
  ['of a run that has not come to it', { status: 'planning' }, 'pending'],
  ['under way', { status: 'post_plan_running', ...evaluating }, 'running'],
  [
    'with a verdict that the status does not show yet',
    { status: 'post_plan_running', verdicts: { policyEvaluation: 'passed' } },
    'running',
  ],
  ['that passed', { status: 'post_plan_completed', verdicts: { policyEvaluation: 'passed' } }, 'passed'],
  [
    'that waits for an override',
    { status: 'post_plan_awaiting_decision', verdicts: { policyEvaluation: 'overridable' } },
    'failed',
  ],
  [
    'that was overridden',
    {
      status: 'post_plan_completed',
      verdicts: { policyEvaluation: 'overridable' },
      overrides: { policyEvaluation: by },
    },
    'overridden',
  ],
  [
    'with an override of the check',
    { status: 'errored', verdicts: { policyEvaluation: 'failed' }, overrides: { policyCheck: by } },
    'failed',
  ],
  ['that an error has ended', { status: 'errored', ...evaluating }, 'errored'],
  ['that a cancel has ended', { status: 'canceled', ...evaluating }, 'canceled'],
  [
    'after run tasks that failed',
    { status: 'errored', verdicts: { post_plan: 'failed' }, ...evaluating },
    'unreachable',
  ],
  ['of a run that ended before it', { status: 'errored' }, 'unreachable'],
])('a policy evaluation %s is %3$s', (_, change, expected) => {
  expect(policyEvaluationStatus(newRun(change))).toBe(expected);
});

it('policies have timestamps for begin, result and override, once these are shown', () => {
  const times = (
    change: Partial<Run>,
    status: 'queued' | 'soft_failed' | 'canceled',
    begun: 'queued-at' | 'running-at',
  ) => policyTimestamps(newRun(change), status, { begun, verdict: 'soft_failed', at });
  expect(times({}, 'queued', 'queued-at')).toEqual({});
  expect(times(checking, 'queued', 'queued-at')).toEqual({ 'queued-at': at });
  expect(times(checking, 'queued', 'running-at')).toEqual({});
  expect(times(evaluating, 'soft_failed', 'running-at')).toEqual({ 'running-at': at, 'soft-failed-at': at });
  expect(times(checking, 'canceled', 'queued-at')).toEqual({ 'queued-at': at });
  const overridden = { ...checking, overrides: { policyCheck: by } };
  expect(times(overridden, 'soft_failed', 'queued-at')).toEqual({
    'queued-at': at,
    'soft-failed-at': at,
    'overridden-at': by.at,
  });
  expect(times(overridden, 'soft_failed', 'running-at')).toEqual({ 'soft-failed-at': at });
});
