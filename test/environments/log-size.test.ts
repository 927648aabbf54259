import { expect, it } from 'vitest';
import { isTooLarge } from '#api/response-size.ts';
import type { Entry } from '#environments/logs/entries.ts';
import { fitting } from '#environments/logs/routes.ts';

it('a log of quotes is shortened at its beginning to the size of a response', () => {
  const entry = (id: number): Entry => ({
    id,
    created_at: '2026-01-01T00:00:00.000Z',
    log_level: 'info',
    log_source: 'provisioner',
    stage: 'Planning',
    output: '"'.repeat(1000),
  });
  const all = Array.from({ length: 2200 }, (_, id) => entry(id));
  const shown = fitting(all);
  expect(isTooLarge({ body: JSON.stringify(shown) })).toBe(false);
  expect(shown.length).toBeGreaterThan(1200);
  expect(shown.at(-1)?.id).toBe(2199);
  expect(fitting(all.slice(0, 10))).toHaveLength(10);
});
