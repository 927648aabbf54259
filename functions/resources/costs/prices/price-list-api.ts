import { callPriceList } from '#platform/store/aws.ts';
import { Cache } from '#platform/store/cache.ts';
import type { Price } from '../bill.ts';
import { type Decimal, decimal, dividedBy } from '../decimal.ts';
import { keyOf, type Quote } from '../estimate.ts';
import { isObject } from '../plan.ts';
import { type Product, productOf } from './catalog.ts';

/**
 * Current prices (AWS Price List API). The number of calls is limited: an estimate may take a few seconds, and
 * missing prices come from the price file or leave resources unmatched. If the first call shows that the API is not
 * available in this account, region or platform, no call follows for a while.
 */

const limits = { calls: 60, atOnce: 8, callMs: 3_000, totalMs: 10_000, waitMs: 15 * 60_000 };

/** Undefined: AWS has no such product in the region, or several. */
const cache = new Cache<Decimal | undefined>({ maxWeight: 5_000, keptMs: 12 * 3600_000 });
let closedUntil = 0;

const input = ({ service, filters }: Product, region: string) => ({
  ServiceCode: service,
  FormatVersion: 'aws_v1',
  MaxResults: 100,
  Filters: Object.entries({ ...filters, regionCode: region }).map(([Field, Value]) => ({
    Type: 'TERM_MATCH',
    Field,
    Value,
  })),
});

const values = (object: unknown): unknown[] => (isObject(object) ? Object.values(object) : []);

/** On-demand prices of a product in USD, first tier only. */
const pricesOf = (product: Record<string, unknown>): string[] => {
  const terms = isObject(product.terms) ? product.terms.OnDemand : undefined;
  return values(terms).flatMap((term) =>
    values(isObject(term) ? term.priceDimensions : undefined).flatMap((dimension) => {
      if (!isObject(dimension) || !isObject(dimension.pricePerUnit)) return [];
      const { beginRange = '0', pricePerUnit } = dimension;
      return beginRange === '0' && typeof pricePerUnit.USD === 'string' ? [pricePerUnit.USD] : [];
    }),
  );
};

const usageOf = (product: Record<string, unknown>): string => {
  const { attributes } = isObject(product.product) ? product.product : {};
  return isObject(attributes) ? String(attributes.usagetype ?? '') : '';
};

/** The price in the list; undefined unless there is exactly one. */
const readPriceList = (list: unknown, { usage, per = 1 }: Product): Decimal | undefined => {
  const amounts = new Set<Decimal>();
  for (const entry of Array.isArray(list) ? list : []) {
    const product: unknown = typeof entry === 'string' ? JSON.parse(entry) : entry;
    if (!isObject(product) || !usage.test(usageOf(product))) continue;
    for (const price of pricesOf(product)) amounts.add(decimal(price));
  }
  amounts.delete(0n);
  const [usd] = amounts;
  return amounts.size === 1 && usd !== undefined ? dividedBy(usd, BigInt(per)) : undefined;
};

const ask = async (product: Product, region: string, timeoutMs: number): Promise<Decimal | undefined> => {
  const answer = await callPriceList<{ PriceList?: unknown }>('GetProducts', input(product, region), timeoutMs);
  return readPriceList(answer.PriceList, product);
};

interface Question {
  key: string;
  product: Product;
  region: string;
}

/** The prices that the API returns in time, possibly none. Never throws; takes at most 13 s. */
export const askPriceList = async (prices: readonly Price[]): Promise<Map<string, Quote>> => {
  const began = Date.now();
  const open: Question[] = [];
  for (const price of prices) {
    const key = keyOf(price);
    const product = productOf(price.item);
    if (product && !cache.has(key)) open.push({ key, product, region: price.region });
  }
  open.splice(limits.calls);
  const tell = async ({ key, product, region }: Question): Promise<boolean> => {
    try {
      cache.set(key, await ask(product, region, limits.callMs));
      return true;
    } catch {
      closedUntil = Date.now() + limits.waitMs;
      return false;
    }
  };
  const worker = async (): Promise<void> => {
    for (let next = open.shift(); next; next = open.shift()) {
      const now = Date.now();
      if (now < closedUntil || now - began > limits.totalMs || !(await tell(next))) return;
    }
  };
  // The first call shows whether the API is reachable.
  const first = began < closedUntil ? undefined : open.shift();
  if (first && (await tell(first))) await Promise.all(Array.from({ length: limits.atOnce }, worker));
  const quotes = new Map<string, Quote>();
  for (const price of prices) {
    const usd = cache.get(keyOf(price));
    if (usd !== undefined) quotes.set(keyOf(price), { usd, source: 'price-list-api' });
  }
  return quotes;
};
