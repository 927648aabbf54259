import type { CostEstimate } from './cost-record.ts';
import type { Run } from './run.ts';
import { isFinal, type Timestamp } from './status.ts';

/**
 * The cost estimate of a plan (HCP API: cost-estimates). Part of its run, like plan and apply; it never fails a run.
 */

/** The estimate of a new run in an organization with cost estimates; undefined for a run with `-target`. */
export const newCostEstimate = ({ targetAddrs }: Pick<Run, 'targetAddrs'>, at: Timestamp): CostEstimate =>
  targetAddrs?.length
    ? { status: 'skipped_due_to_targeting', statusTimestamps: { 'skipped-due-to-targeting-at': at } }
    : { status: 'pending', statusTimestamps: { 'pending-at': at } };

/** Whether the stage has yet to run: the machine enters CostEstimating for such a run only. */
export const awaitsCostEstimate = ({ costEstimate }: Pick<Run, 'costEstimate'>): boolean =>
  costEstimate?.status === 'pending';

type Facts = Pick<Run, 'costEstimate' | 'status' | 'statusTimestamps'>;

/**
 * The estimate according to the run's status: queued while the stage runs, and final once the run has ended, so that
 * clients do not wait for it forever. Undefined for a run without one.
 */
export const shownCostEstimate = ({ costEstimate, status, statusTimestamps }: Facts): CostEstimate | undefined => {
  if (costEstimate?.status !== 'pending') return costEstimate;
  const entered = statusTimestamps['cost-estimating-at'];
  const stamps = { ...costEstimate.statusTimestamps, ...(entered ? { 'queued-at': entered } : {}) };
  if (!isFinal(status)) {
    return { ...costEstimate, status: status === 'cost_estimating' ? 'queued' : 'pending', statusTimestamps: stamps };
  }
  const canceledAt = statusTimestamps['canceled-at'];
  return status === 'canceled' && canceledAt
    ? { ...costEstimate, status: 'canceled', statusTimestamps: { ...stamps, 'canceled-at': canceledAt } }
    : { ...costEstimate, status: 'unreachable', statusTimestamps: stamps };
};

/** Monthly costs in USD, as decimal strings. */
export type CostInput = {
  prior_monthly_cost: string;
  proposed_monthly_cost: string;
  delta_monthly_cost: string;
};

/**
 * The estimate that policies see (Sentinel import tfrun: `cost_estimate`); undefined unless it is finished, because a
 * policy must not take an unknown cost for zero.
 */
export const costInput = (estimate: CostEstimate | undefined): CostInput | undefined => {
  if (estimate?.status !== 'finished') return undefined;
  const { priorMonthlyCost, proposedMonthlyCost, deltaMonthlyCost } = estimate;
  if (priorMonthlyCost === undefined || proposedMonthlyCost === undefined || deltaMonthlyCost === undefined) {
    return undefined;
  }
  return {
    prior_monthly_cost: priorMonthlyCost,
    proposed_monthly_cost: proposedMonthlyCost,
    delta_monthly_cost: deltaMonthlyCost,
  };
};
