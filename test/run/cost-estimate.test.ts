import { describe, expect, it } from 'vitest';
import { awaitsCostEstimate, costInput, newCostEstimate, shownCostEstimate } from '#run/cost-estimate.ts';
import type { CostEstimate } from '#run/cost-record.ts';
import { finalStatuses, isFinal, type RunStatus, runStatuses } from '#run/status.ts';

const at = '2026-01-01T00:00:00.000Z';
const pending = newCostEstimate({ targetAddrs: null }, at);
const finished: CostEstimate = {
  status: 'finished',
  statusTimestamps: { 'pending-at': at, 'finished-at': at },
  priorMonthlyCost: '0.0',
  proposedMonthlyCost: '25.488',
  deltaMonthlyCost: '25.488',
};
const shown = (status: RunStatus, costEstimate?: CostEstimate, statusTimestamps = {}) =>
  shownCostEstimate({ status, costEstimate, statusTimestamps });

describe('a cost estimate', () => {
  it('awaits its stage, unless the run has targets', () => {
    expect(pending).toEqual({ status: 'pending', statusTimestamps: { 'pending-at': at } });
    expect(awaitsCostEstimate({ costEstimate: pending })).toBe(true);
    const targeted = newCostEstimate({ targetAddrs: ['a.b'] }, at);
    expect(targeted.status).toBe('skipped_due_to_targeting');
    for (const costEstimate of [undefined, targeted, finished])
      expect(awaitsCostEstimate({ costEstimate })).toBe(false);
    expect(newCostEstimate({ targetAddrs: [] }, at).status).toBe('pending');
  });

  it('is final when its run is final, because clients poll until then', () => {
    for (const status of runStatuses) {
      const over = !['pending', 'queued'].includes(shown(status, pending)?.status ?? '');
      expect([status, over]).toEqual([status, isFinal(status)]);
      expect(shown(status, finished)).toEqual(finished);
      expect(shown(status)).toBeUndefined();
    }
    for (const status of finalStatuses.filter((one) => one !== 'canceled')) {
      expect(shown(status, pending)?.status).toBe('unreachable');
    }
  });

  it('shows its current stage', () => {
    const stamps = { 'cost-estimating-at': '2026-01-01T00:00:01.000Z' };
    expect(shown('cost_estimating', pending, stamps)).toEqual({
      status: 'queued',
      statusTimestamps: { 'pending-at': at, 'queued-at': stamps['cost-estimating-at'] },
    });
    const canceled = shown('canceled', pending, { 'canceled-at': at });
    expect(canceled).toEqual({ status: 'canceled', statusTimestamps: { 'pending-at': at, 'canceled-at': at } });
    expect(shown('canceled', pending)?.status, 'of a run without the time of its cancel').toBe('unreachable');
    expect(shown('errored', pending, { 'canceled-at': at })?.status, 'of a run that errored').toBe('unreachable');
  });

  it('is visible to policies once it is finished, and not before', () => {
    expect(costInput(finished)).toEqual({
      prior_monthly_cost: '0.0',
      proposed_monthly_cost: '25.488',
      delta_monthly_cost: '25.488',
    });
    const partial = ['priorMonthlyCost', 'proposedMonthlyCost', 'deltaMonthlyCost'].map(
      (part): CostEstimate => ({ ...finished, [part]: undefined }),
    );
    for (const estimate of [undefined, pending, { ...finished, status: 'errored' as const }, ...partial]) {
      expect(costInput(estimate)).toBeUndefined();
    }
  });
});
