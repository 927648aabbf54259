import { expect, it } from 'vitest';
import { firstLoadBytes, mostFirstLoadBytes } from '#test/support/first-load.ts';

it('the first load has at most 50 KB of script and style', async () => {
  const bytes = await firstLoadBytes();
  expect(bytes).toBeGreaterThan(30_000);
  expect(bytes).toBeLessThanOrEqual(mostFirstLoadBytes);
});
