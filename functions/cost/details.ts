import { type Decimal, format } from './decimal.ts';
import type { Estimate, MatchedResource, Money, UnmatchedResource } from './estimate.ts';

/** The resources of an estimate as the API shows them; HCP Terraform leaves the keys open (HCP API: cost-estimates). */

export interface MatchedDetail {
  address: string;
  type: string;
  name: string;
  region?: string;
  /** The plan does not say the region. */
  'region-assumed'?: true;
  'prior-hourly-cost': string;
  'proposed-hourly-cost': string;
  'delta-hourly-cost': string;
  'prior-monthly-cost': string;
  'proposed-monthly-cost': string;
  'delta-monthly-cost': string;
  /** Empty for what is free. */
  'price-sources': string[];
  assumptions: string[];
}

export interface UnmatchedDetail {
  address: string;
  type: string;
  name: string;
  region?: string;
  /** For people. */
  reason: string;
}

export interface Details {
  matched: MatchedDetail[];
  unmatched: UnmatchedDetail[];
}

/** Listed at most, those that cost most first to be kept: a larger answer would not pass a Lambda function (6 MB). */
export const maxListed = 5_000;
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

const mostExpensive = (matched: MatchedResource[]): MatchedResource[] => {
  if (matched.length <= maxListed) return matched;
  const ranked = [...matched].sort((a, b) => (weight(b) > weight(a) ? 1 : weight(b) < weight(a) ? -1 : 0));
  const kept = new Set(ranked.slice(0, maxListed));
  return matched.filter((one) => kept.has(one));
};

export const detailsOf = ({ matched, unmatched }: Estimate): Details => {
  const listed = mostExpensive(matched);
  return {
    matched: listed.map((one) => ({
      ...shown(one),
      ...(one.regionAssumed ? { 'region-assumed': true as const } : {}),
      ...costs(one.prior, one.proposed),
      'price-sources': one.sources,
      assumptions: one.assumptions,
    })),
    unmatched: unmatched
      .slice(0, maxListed - listed.length)
      .map((one) => ({ ...shown(one), reason: one.reason.slice(0, 300) })),
  };
};
