import { expect, it } from 'vitest';
import { startAws } from '#test/support/aws.ts';

await startAws();
const table = await import('#platform/store/table.ts');

const key = { pk: 'A', sk: 'A' };

it('conditions support reserved words, nested paths, functions and sets', async () => {
  await table.put({ ...key, plan: { status: 'queued', hash: 'h' }, status: 'pending', action: 'a' });
  const change = (condition: string, values: Record<string, unknown> = {}) =>
    table.update(key, { set: { 'plan.status': 'running' }, condition, values });
  expect(await change('plan.hash = :hash AND attribute_not_exists(plan.claim)', { ':hash': 'h' })).toMatchObject({
    plan: { status: 'running', hash: 'h' },
  });
  expect(
    await change('NOT status IN (:a, :b) AND (action = :x OR attribute_exists(lock))', {
      ':a': 'applied',
      ':b': 'errored',
      ':x': 'a',
    }),
  ).toBeDefined();
  expect(await change('status IN (:a)', { ':a': 'applied' })).toBeUndefined();
  expect(await change('attribute_exists(plan.claim)')).toBeUndefined();
});

it('a failed condition is a result, and any other error is thrown', async () => {
  expect(await table.create({ ...key })).toBe(false);
  expect(await table.remove(key, { condition: 'status = :s', values: { ':s': 'applied' } })).toBe(false);
  expect(await table.remove(key)).toBe(true);
  expect(await table.remove(key)).toBe(false);
  await expect(table.update(key, { set: { a: 1 }, condition: 'a ==' })).rejects.toThrow(/ConditionExpression/);
});

it('an empty change writes no item', async () => {
  const item = { ...key, sk: 'B', a: 1 };
  expect(await table.update({ pk: item.pk, sk: item.sk }, { set: {} })).toBeUndefined();
  await table.put(item);
  const there = { pk: item.pk, sk: item.sk };
  expect(await table.update(there, { set: { a: undefined } })).toEqual(item);
  expect(await table.update(there, { set: {}, condition: 'a = :a', values: { ':a': 1 } })).toEqual(item);
  expect(await table.update(there, { set: {}, condition: 'a = :a', values: { ':a': 2 } })).toBeUndefined();
});

it('a batch read returns no items for impossible keys, and each item once', async () => {
  const item = { pk: 'C', sk: 'C', a: 1 };
  await table.put(item);
  const long = { pk: 'C', sk: 'x'.repeat(1025) };
  const longer = { pk: 'x'.repeat(2049), sk: 'C' };
  const there = { pk: 'C', sk: 'C' };
  expect(await Promise.all([long, longer].map((one) => table.get(one)))).toEqual([undefined, undefined]);
  expect(await table.batchGet([long, there, there, longer])).toEqual([item, item]);
  expect(await table.query({ pk: 'C', prefix: long.sk })).toEqual([]);
  expect(await table.query({ pk: longer.pk })).toEqual([]);
});
