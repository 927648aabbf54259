import { detailsOf } from '#resources/costs/details.ts';
import { billsOf, type Estimate, estimate, keyOf, priced, pricesIn, type Quote } from '#resources/costs/estimate.ts';
import { readPlan } from '#resources/costs/plan.ts';
import { filePrice } from '#resources/costs/prices/file.ts';

type Json = Record<string, unknown>;

export interface Change {
  type: string;
  name?: string;
  module?: string;
  index?: string | number;
  before?: Json | null;
  after?: Json | null;
  unknown?: Json;
  mode?: string;
  provider?: string;
}

/** An entry of `resource_changes` in Terraform's format. */
const change = (one: Change): Json => {
  const { type, name = 'this', module, index, before = null, after = null, unknown = {}, mode = 'managed' } = one;
  const key = index === undefined ? '' : `[${JSON.stringify(index)}]`;
  const { provider = 'registry.terraform.io/hashicorp/aws' } = one;
  return {
    address: `${module ? `${module}.` : ''}${type}.${name}${key}`,
    ...(module ? { module_address: module } : {}),
    mode,
    type,
    name,
    ...(index === undefined ? {} : { index }),
    provider_name: provider,
    change: { actions: before ? (after ? ['update'] : ['delete']) : ['create'], before, after, after_unknown: unknown },
  };
};

export const inRegion = (region: string): Json => ({
  provider_config: { aws: { name: 'aws', expressions: { region: { constant_value: region } } } },
});

export const planOf = (changes: Change[], more: Json = { configuration: inRegion('us-east-1') }): Buffer =>
  Buffer.from(JSON.stringify({ format_version: '1.2', ...more, resource_changes: changes.map(change) }));

/** The estimate at the prices of the price file. */
export const estimateOf = (plan: Buffer, ownRegion = 'us-east-1'): Estimate => {
  const bills = billsOf(readPlan(plan, priced), ownRegion);
  const quotes = new Map<string, Quote>();
  for (const price of pricesIn(bills)) {
    const usd = filePrice(price);
    if (usd !== undefined) quotes.set(keyOf(price), { usd, source: 'price-file' });
  }
  return estimate(bills, quotes);
};

/** Monthly cost of one created resource, or the reason for its absence. */
export const monthOf = (type: string, after: Json, more: Partial<Change> = {}, ...others: Change[]): string => {
  const { matched, unmatched } = detailsOf(estimateOf(planOf([{ type, after, ...more }, ...others])));
  return matched.find((one) => one.type === type)?.['proposed-monthly-cost'] ?? unmatched[0]?.reason ?? 'nothing';
};
