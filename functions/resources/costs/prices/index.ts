import type { Price } from '../bill.ts';
import { keyOf, type Quote } from '../estimate.ts';
import { filePrice } from './file.ts';
import { askPriceList } from './price-list-api.ts';

/** Current prices from AWS where available, otherwise from the file in the package. */
export const quotesFor = async (prices: readonly Price[]): Promise<Map<string, Quote>> => {
  const quotes = await askPriceList(prices);
  for (const price of prices) {
    const usd = quotes.has(keyOf(price)) ? undefined : filePrice(price);
    if (usd !== undefined) quotes.set(keyOf(price), { usd, source: 'price-file' });
  }
  return quotes;
};
