import { describe, expect, it } from 'vitest';
import { allowedActions, pendingOverride } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { runStatuses } from '#run/status.ts';
import { newRun } from '#test/support/run.ts';

const now = '2026-01-01T12:00:00.000Z';
const actions = (change: Partial<Run>): string[] =>
  Object.entries(allowedActions(newRun(change), now)).flatMap(([name, allowed]) => (allowed ? [name] : []));

describe('allowed actions', () => {
  /** Lifecycle rule 5, one row per status; a missing status allows nothing. */
  const whileIn: Record<string, string[]> = {
    pending: ['is-discardable', 'is-cancelable'],
    fetching: ['is-cancelable'],
    fetching_completed: ['is-cancelable'],
    pre_plan_running: ['is-cancelable'],
    pre_plan_completed: ['is-cancelable'],
    plan_queued: ['is-cancelable'],
    planning: ['is-cancelable'],
    post_plan_running: ['is-cancelable'],
    cost_estimating: ['is-cancelable'],
    policy_checking: ['is-cancelable'],
    policy_override: ['is-discardable'],
    post_plan_awaiting_decision: ['is-discardable'],
    planned: ['is-confirmable', 'is-discardable'],
    post_plan_completed: ['is-confirmable', 'is-discardable'],
    cost_estimated: ['is-confirmable', 'is-discardable'],
    policy_checked: ['is-confirmable', 'is-discardable'],
    planned_and_saved: ['is-confirmable', 'is-discardable'],
    confirmed: ['is-cancelable'],
    pre_apply_running: ['is-cancelable'],
    pre_apply_completed: ['is-cancelable'],
    apply_queued: ['is-cancelable'],
    applying: ['is-cancelable'],
    post_apply_running: ['is-cancelable'],
  };
  it.each(runStatuses)('while %s', (status) => {
    expect(actions({ status })).toEqual(whileIn[status] ?? []);
  });

  it('one decision excludes the others immediately', () => {
    const by = { by: 'user-1', at: now };
    expect(actions({ status: 'planned', decision: { action: 'discard', ...by } })).toEqual([]);
    expect(actions({ status: 'confirmed', decision: { action: 'apply', ...by } })).toEqual(['is-cancelable']);
    expect(actions({ status: 'planned', decision: { action: 'apply', ...by } })).toEqual([]);
    expect(actions({ status: 'pending', decision: { action: 'discard', ...by } })).toEqual([]);
  });

  it('a run awaits an override of the policies that stopped it, until it is overridden or decided', () => {
    const by = { by: 'user-1', at: now };
    const pending = (change: Partial<Run>) => pendingOverride(newRun({ status: 'policy_override', ...change }));
    expect(pending({})).toBe('policyCheck');
    expect(pending({ status: 'post_plan_awaiting_decision' })).toBe('policyEvaluation');
    expect(pending({ status: 'planned' })).toBeUndefined();
    expect(pending({ overrides: { policyCheck: by } })).toBeUndefined();
    expect(pending({ overrides: { policyEvaluation: by } })).toBe('policyCheck');
    expect(pending({ decision: { action: 'discard', ...by } })).toBeUndefined();
    expect(pending({ decision: { action: 'apply', ...by } })).toBeUndefined();
    expect(pending({ cancel: { ...by, forceAvailableAt: now } })).toBeUndefined();
  });

  it('a canceled run can be force-canceled after its cool-off', () => {
    const cancel = (forceAvailableAt: string) => ({ by: 'user-1', at: now, forceAvailableAt });
    expect(actions({ status: 'applying', cancel: cancel('2026-01-01T12:00:00.001Z') })).toEqual([]);
    expect(actions({ status: 'applying', cancel: cancel(now) })).toEqual(['is-force-cancelable']);
    expect(actions({ status: 'canceled', cancel: cancel(now) })).toEqual([]);
  });
});
