import type { PriceSource } from '#run/cost-record.ts';
import { Bill, type Charge, hoursInMonth, type Price, UnpricedError, Values } from './bill.ts';
import { type Decimal, dividedBy, round, sum, times } from './decimal.ts';
import type { Plan, PlannedResource } from './plan.ts';
import { configuredResources, regionFinder } from './regions.ts';
import { relationFinder, type Side } from './relations.ts';
import { isFree } from './resources/free.ts';
import { pricers } from './resources/index.ts';
import type { Pricer } from './resources/pricer.ts';

/** Computes costs before and after a plan, from its JSON and prices. Pure, in one pass over the resources. */

/** Whether an estimate needs the values of this type. */
export const priced = (type: string): boolean => pricers.has(type) || referredTo.has(type);
const referredTo: ReadonlySet<string> = new Set([
  'aws_launch_template',
  'aws_launch_configuration',
  'aws_ecs_task_definition',
]);

/** A resource with its charges, before prices are known. */
export interface Billed {
  resource: PlannedResource;
  region?: string;
  /** The plan does not contain the region. */
  regionAssumed?: boolean;
  prior?: Bill;
  proposed?: Bill;
  /** Reason for a missing price. */
  reason?: string;
}

const billOf = (pricer: Pricer, values: Values, region: string, related: Parameters<Pricer>[2]): Bill => {
  const bill = new Bill(region);
  pricer(values, bill, related);
  return bill;
};

/** @param ownRegion assumed if the plan does not contain a resource's region */
export const billsOf = (plan: Plan, ownRegion: string): Billed[] => {
  const configured = configuredResources(plan);
  const regionOf = regionFinder(plan, configured);
  const relatedTo = relationFinder(plan, configured, referredTo);
  return plan.resources.map((resource) => {
    const pricer = pricers.get(resource.type);
    if (!pricer) {
      return isFree(resource.type, resource.providerName)
        ? { resource }
        : { resource, reason: `estimates do not support resources of type ${resource.type.slice(0, 100)}` };
    }
    const ownedRegion = regionOf(resource, resource.after ?? resource.before);
    const billed: Billed = { resource, region: ownedRegion ?? ownRegion, regionAssumed: ownedRegion === undefined };
    const side = (name: Side): Bill | undefined => {
      const values = resource[name];
      if (!values) return undefined;
      const region = (name === 'before' ? regionOf(resource, values) : ownedRegion) ?? ownRegion;
      const unknown = name === 'after' ? resource.afterUnknown : {};
      return billOf(pricer, new Values(values, unknown), region, relatedTo(resource, name));
    };
    try {
      return { ...billed, prior: side('before'), proposed: side('after') };
    } catch (error) {
      if (error instanceof UnpricedError) return { ...billed, reason: error.message };
      throw error;
    }
  });
};

export const keyOf = ({ region, item }: Price): string => `${region} ${item}`;

/** All prices that the bills need, without duplicates, the most frequent ones first. */
export const pricesIn = (bills: readonly Billed[]): Price[] => {
  const counted = new Map<string, { price: Price; uses: number }>();
  for (const { prior, proposed } of bills) {
    for (const { price } of [...(prior?.charges ?? []), ...(proposed?.charges ?? [])]) {
      const counter = counted.get(keyOf(price));
      if (counter) counter.uses++;
      else counted.set(keyOf(price), { price, uses: 1 });
    }
  }
  return [...counted.values()].sort((a, b) => b.uses - a.uses).map(({ price }) => price);
};

/** A unit price in USD, with its source. */
export interface Quote {
  usd: Decimal;
  source: PriceSource;
}

export interface Money {
  hourly: Decimal;
  monthly: Decimal;
}

export interface MatchedResource {
  resource: PlannedResource;
  region?: string;
  regionAssumed?: boolean;
  prior: Money;
  proposed: Money;
  sources: PriceSource[];
  assumptions: string[];
}

export interface UnmatchedResource {
  resource: PlannedResource;
  region?: string;
  reason: string;
}

export interface Estimate {
  matched: MatchedResource[];
  unmatched: UnmatchedResource[];
  /** Sums of the resources' monthly costs. */
  prior: Decimal;
  proposed: Decimal;
}

/** Rounded before summing, so that the sums match the displayed numbers: hours to 10⁻⁶ USD, months to 10⁻⁴. */
const moneyOf = (bill: Bill | undefined, quotes: ReadonlyMap<string, Quote>): Money => {
  let hours = 0n;
  let months = 0n;
  for (const { price, quantity, per } of bill?.charges ?? []) {
    const cost = times(quotes.get(keyOf(price))?.usd ?? 0n, quantity);
    if (per === 'hour') hours += cost;
    else months += cost;
  }
  return {
    hourly: round(hours + dividedBy(months, hoursInMonth), 6),
    monthly: round(months + hours * hoursInMonth, 4),
  };
};

/** Resources in the order of the plan; resources whose price `quotes` lacks are unmatched. */
export const estimate = (bills: readonly Billed[], quotes: ReadonlyMap<string, Quote>): Estimate => {
  const matched: MatchedResource[] = [];
  const unmatched: UnmatchedResource[] = [];
  for (const { resource, region, regionAssumed, prior, proposed, reason } of bills) {
    const charges: Charge[] = [...(prior?.charges ?? []), ...(proposed?.charges ?? [])];
    const missing = charges.find(({ price }) => !quotes.has(keyOf(price)));
    if (reason !== undefined || missing) {
      const why = reason ?? `no price for ${missing?.price.item} in ${missing?.price.region}`;
      unmatched.push({ resource, region, reason: why });
      continue;
    }
    const sources = new Set(charges.flatMap(({ price }) => quotes.get(keyOf(price))?.source ?? []));
    matched.push({
      resource,
      region,
      regionAssumed,
      prior: moneyOf(prior, quotes),
      proposed: moneyOf(proposed, quotes),
      sources: [...sources].sort(),
      assumptions: [...new Set([...(prior?.assumptions ?? []), ...(proposed?.assumptions ?? [])])],
    });
  }
  return {
    matched,
    unmatched,
    prior: sum(matched.map(({ prior }) => prior.monthly)),
    proposed: sum(matched.map(({ proposed }) => proposed.monthly)),
  };
};
