import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Cache } from '#platform/store/cache.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('the cache keeps values for a time, including undefined and null', () => {
  const cache = new Cache<number | null | undefined>({ maxWeight: 10, keptMs: 1000 });
  cache.set('a', undefined);
  cache.set('b', null);
  vi.advanceTimersByTime(999);
  expect([cache.has('a'), cache.get('a'), cache.has('b'), cache.get('b'), cache.has('c')]).toEqual([
    true,
    undefined,
    true,
    null,
    false,
  ]);
  cache.set('a', 1);
  vi.advanceTimersByTime(1);
  expect([cache.get('a'), cache.has('b')]).toEqual([1, false]);
});

it('the cache evicts the oldest entries when its weight is exceeded', () => {
  const cache = new Cache<string>({ maxWeight: 3 });
  for (const key of ['a', 'b', 'c']) cache.set(key, key);
  cache.set('a', 'again');
  cache.set('d', 'd');
  expect(['a', 'b', 'c', 'd'].filter((key) => cache.has(key))).toEqual(['a', 'c', 'd']);
  cache.set('heavy', '', 3);
  expect(['a', 'c', 'd', 'heavy'].filter((key) => cache.has(key))).toEqual(['heavy']);
  cache.set('heavy', '', 1);
  cache.set('e', 'e', 2);
  expect(cache.has('heavy')).toBe(true);
  cache.clear();
  cache.set('f', 'f', 3);
  expect([cache.has('heavy'), cache.has('f')]).toEqual([false, true]);
});
