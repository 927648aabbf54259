import type { Timestamp } from './status.ts';

export const costEstimateStatuses = [
  'pending',
  'queued',
  'finished',
  'errored',
  'canceled',
  'unreachable',
  'skipped_due_to_targeting',
] as const;

export type CostEstimateStatus = (typeof costEstimateStatuses)[number];

/** Source of a price: AWS's Price List API, or the dated file in the package. */
export type PriceSource = 'price-list-api' | 'price-file';

/** The record on the run, about 1 KB for a plan of any size; the costs of each resource are an object in the bucket. */
export interface CostEstimate {
  status: CostEstimateStatus;
  statusTimestamps: Record<string, Timestamp>;
  /** Reason why it errored, shown to users. */
  errorMessage?: string;
  /** Set only when finished, like the attributes below. */
  resourcesCount?: number;
  matchedResourcesCount?: number;
  unmatchedResourcesCount?: number;
  /** USD as decimal strings, e.g. `25.488`, `-3.1`, `0.0`. Delta is exactly proposed minus prior. */
  priorMonthlyCost?: string;
  proposedMonthlyCost?: string;
  deltaMonthlyCost?: string;
  priceSources?: PriceSource[];
  /** Date of the price file, `2025-06`; absent when it was not used. */
  pricesAsOf?: string;
}
