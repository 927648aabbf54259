import { expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { finishing } from '#clients/client/text/canceling.ts';

const now = Date.parse('2026-01-01T00:03:00.000Z');
const textOf = (open: object[] | undefined) =>
  finishing({ attributes: { 'finishing-resources': open } } as unknown as Resource<'runs'>, now);

it('the text of a canceled run names what Terraform finishes, and since when', () => {
  const main = { address: 'aws_db_instance.main', since: '2026-01-01T00:00:00.000Z' };
  const other = { address: 'aws_vpc.a["\u202e"]', since: '2026-01-01T00:02:55.000Z' };
  expect(textOf([main])).toBe('aws_db_instance.main, 3 min 0 s');
  expect(textOf([main, other])).toBe('aws_db_instance.main, 3 min 0 s; aws_vpc.a["\\u202e"], 5.0 s');
  expect(textOf([main, main, main, main, main])).toMatch(/; and 2 other resources$/);
});

it('the text of a canceled run is empty if the runner named no resources, or the platform is older', () => {
  expect(textOf([])).toBeUndefined();
  expect(textOf(undefined)).toBeUndefined();
});
