import { type Decimal, format } from './decimal.ts';
import type { Estimate, MatchedResource, Money, UnmatchedResource } from './estimate.ts';

/** The resources of an estimate as the API shows them; HCP Terraform leaves the keys open (HCP API: cost-estimates). */

export interface MatchedDetail {
  address: string;
  type: string;
  name: string;
  region?: string;
  /** The plan does not contain the region. */
  'region-assumed'?: true;
  'prior-hourly-cost': string;
  'proposed-hourly-cost': string;
  'delta-hourly-cost': string;
  'prior-monthly-cost': string;
  'proposed-monthly-cost': string;
  'delta-monthly-cost': string;
  /** Empty for free resources. */
  'price-sources': string[];
  assumptions: string[];
}

export interface UnmatchedDetail {
  address: string;
  type: string;
  name: string;
  region?: string;
  /** Shown to users. */
  reason: string;
}

export interface Details {
  matched: MatchedDetail[];
  unmatched: UnmatchedDetail[];
}

/** Maximum size of the listed resources as JSON, in bytes: a function's response is limited to 6 MB. */
const budgets = { matched: 3 * 1024 * 1024, unmatched: 1024 * 1024 };
const maxAddress = 500;

const shown = ({ resource: { address, type, name }, region }: MatchedResource | UnmatchedResource) => ({
  address: address.slice(0, maxAddress),
  type: type.slice(0, 100),
  name: name.slice(0, 100),
  region,
});

const costs = (prior: Money, proposed: Money) => ({
  'prior-hourly-cost': format(prior.hourly),
  'proposed-hourly-cost': format(proposed.hourly),
  'delta-hourly-cost': format(proposed.hourly - prior.hourly),
  'prior-monthly-cost': format(prior.monthly),
  'proposed-monthly-cost': format(proposed.monthly),
  'delta-monthly-cost': format(proposed.monthly - prior.monthly),
});

const weight = ({ prior, proposed }: MatchedResource): Decimal =>
  prior.monthly > proposed.monthly ? prior.monthly : proposed.monthly;

/** The first ones, as many as fit. */
const fitting = <T>(rows: readonly T[], budget: number): T[] => {
  let bytes = 0;
  const end = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    return bytes > budget;
  });
  return rows.slice(0, end < 0 ? rows.length : end);
};

const matchedDetail = (resource: MatchedResource): MatchedDetail => ({
  ...shown(resource),
  ...(resource.regionAssumed ? { 'region-assumed': true as const } : {}),
  ...costs(resource.prior, resource.proposed),
  'price-sources': resource.sources,
  assumptions: resource.assumptions,
});

/** In the order of the plan. If the list is too large, it contains the most expensive resources. */
export const detailsOf = ({ matched, unmatched }: Estimate): Details => {
  const rows = new Map(matched.map((resource) => [resource, matchedDetail(resource)]));
  const ranked = [...matched].sort((a, b) => (weight(b) > weight(a) ? 1 : weight(b) < weight(a) ? -1 : 0));
  const largest = new Set(
    fitting(
      ranked.map((resource) => rows.get(resource)),
      budgets.matched,
    ),
  );
  return {
    matched: [...rows.values()].filter((row) => largest.has(row)),
    unmatched: fitting(
      unmatched.map((resource) => ({ ...shown(resource), reason: resource.reason.slice(0, 300) })),
      budgets.unmatched,
    ),
  };
};
