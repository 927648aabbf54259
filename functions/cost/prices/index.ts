import type { Price } from '../bill.ts';
import { keyOf, type Quote } from '../estimate.ts';
import { filePrice } from './file.ts';

/** What the file in the package says of these prices. */
export const quotesFor = async (prices: readonly Price[]): Promise<Map<string, Quote>> => {
  const quotes = new Map<string, Quote>();
  for (const price of prices) {
    const usd = filePrice(price);
    if (usd !== undefined) quotes.set(keyOf(price), { usd, source: 'price-file' });
  }
  return quotes;
};
