import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Aws, startAws } from '../support/aws.ts';

let aws: Aws;
let table: typeof import('../../functions/store/table.ts');
beforeAll(async () => {
  aws = await startAws();
  table = await import('../../functions/store/table.ts');
});
afterAll(() => aws.close());

const key = { pk: 'A', sk: 'A' };

it('takes conditions with reserved words, nested paths, functions and sets', async () => {
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

it('answers a failed condition, and lets any other error through', async () => {
  expect(await table.create({ ...key })).toBe(false);
  expect(await table.remove(key, { condition: 'status = :s', values: { ':s': 'applied' } })).toBe(false);
  expect(await table.remove(key)).toBe(true);
  expect(await table.remove(key)).toBe(false);
  await expect(table.update(key, { set: { a: 1 }, condition: 'a ==' })).rejects.toThrow(/ConditionExpression/);
});

it('changes nothing with a change of nothing, and creates no item by it', async () => {
  const item = { ...key, sk: 'B', a: 1 };
  expect(await table.update({ pk: item.pk, sk: item.sk }, { set: {} })).toBeUndefined();
  await table.put(item);
  const there = { pk: item.pk, sk: item.sk };
  expect(await table.update(there, { set: { a: undefined } })).toEqual(item);
  expect(await table.update(there, { set: {}, condition: 'a = :a', values: { ':a': 1 } })).toEqual(item);
  expect(await table.update(there, { set: {}, condition: 'a = :a', values: { ':a': 2 } })).toBeUndefined();
});
