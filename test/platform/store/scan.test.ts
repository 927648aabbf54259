import { describe, expect, it } from 'vitest';
import { FilterTooWideError, scan } from '#platform/store/scan.ts';

/** Lists with few matches. */

const listOf = (length: number, fits: (n: number) => boolean) => {
  let at = 0;
  const read = async (limit: number) => {
    const some = Array.from({ length: Math.min(limit, length - at) }, (_, i) => at + i);
    at += some.length;
    return some;
  };
  return { read, narrow: (all: number[]) => all, records: async (all: number[]) => all, fits };
};

describe('a list with a filter', () => {
  it('is read to its end', async () => {
    const page = await scan(
      listOf(2000, (n) => n === 1999),
      { page: 1, size: 20 },
    );
    expect(page).toEqual({ items: [1999], total: 1, more: false });
  });

  it('marks truncated text', async () => {
    const rare = listOf(2001, (n) => n === 2000);
    await expect(scan(rare, { page: 1, size: 20 })).rejects.toBeInstanceOf(FilterTooWideError);
  });

  it('reports possible further matches when the page is full', async () => {
    const page = await scan(
      listOf(5000, (n) => n < 20),
      { page: 1, size: 20 },
    );
    expect([page.items.length, page.more]).toEqual([20, true]);
  });
});
