import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlanJsonError, readPlan } from '#resources/costs/plan.ts';
import { estimateOf, planOf } from './support.ts';

const from = (json: unknown): Buffer => Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Drops maps and long texts, which do not affect prices. */
const priceable = (values: object): object =>
  Object.fromEntries(
    Object.entries(JSON.parse(JSON.stringify(values))).filter(
      ([, value]) => !isRecord(value) && !(typeof value === 'string' && value.length > 300),
    ),
  );

describe('reading a plan', () => {
  it('finds the same values as JSON.parse, in any order and formatting', () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(json, json, fc.constantFrom(undefined, 2), (before, other, space) => {
        const plan = {
          'a "quoted\\" key': other,
          resource_changes: [
            { address: 'a\\"b', type: 't', name: 'n', mode: 'managed', change: { before, after: { other } } },
          ],
          planned_values: other,
          variables: { v: { value: before } },
          configuration: { nested: other },
        };
        const read = readPlan(from(JSON.stringify(plan, null, space)));
        expect(read.resources[0]).toMatchObject({ address: 'a\\"b', type: 't' });
        expect(read.resources[0]?.before).toEqual(isRecord(before) ? priceable(before) : undefined);
        expect(read.variables.get('v')).toEqual(JSON.parse(JSON.stringify(before)));
        expect(read.configuration).toEqual(JSON.parse(JSON.stringify({ nested: other })));
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['not an object', '[]'],
    [
      'cut off',
      planOf([{ type: 'aws_vpc', after: {} }])
        .toString()
        .slice(0, -3),
    ],
    ['cut off in a string', '{"format_version":"1.2'],
    ['not JSON inside', '{"resource_changes":[{"change":{"before":nil}}]}'],
    ['without commas', '{"a":1 "b":2}'],
    ['without colon', '{"a" 1}'],
    ['deep', `{"resource_changes":[${'['.repeat(1_000_000)}`],
    ['a newer format', { format_version: '2.0' }],
    ['an invalid change', { resource_changes: [{ type: 'aws_vpc' }] }],
    ['a change that is a text', { resource_changes: ['aws_vpc'] }],
    ['a configuration that is too large', { configuration: { text: 'x'.repeat(17 * 1024 * 1024) } }],
  ])('rejects %s', (_name, json) => {
    expect(() => readPlan(from(json))).toThrow(PlanJsonError);
  });

  it('accepts an empty plan', () => {
    for (const json of [
      {},
      { resource_changes: null },
      { resource_changes: [] },
      { configuration: null, variables: 3 },
    ]) {
      expect(readPlan(from(json)).resources).toEqual([]);
    }
  });

  it('keeps only the values that matter', () => {
    const bytes = planOf([{ type: 'aws_vpc', before: { a: 1 }, after: { a: 2 } }]);
    expect(readPlan(bytes, () => false).resources[0]).toMatchObject({ before: {}, after: {} });
  });
});

describe('plans by customers’ code', () => {
  const types = [
    'aws_instance',
    'aws_db_instance',
    'aws_ecs_service',
    'aws_autoscaling_group',
    'aws_lambda_function',
    'x',
  ];
  const names = ['instance_type', 'root_block_device', 'scaling_config', 'launch_template', 'cpu', 'size', '__proto__'];
  const odd = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 4 }));

  it('never break an estimate', () => {
    const changes = fc.array(
      fc.record({ type: fc.constantFrom(...types), before: fc.option(odd), after: fc.option(odd), unknown: odd }),
    );
    fc.assert(
      fc.property(changes, fc.jsonValue({ maxDepth: 5 }), (all, configuration) => {
        const costs = estimateOf(planOf(all, { configuration, variables: configuration }));
        expect(costs.matched.length + costs.unmatched.length).toBe(all.length);
      }),
    );
  });

  it('may be large: reads each of 5,000 resources once', () => {
    const after = { instance_type: 't3.micro', user_data: 'x'.repeat(2_000) };
    const all = Array.from({ length: 5_000 }, (_, index) => ({ type: 'aws_instance', index, after }));
    const costs = estimateOf(planOf(all));
    expect(costs.matched.length).toBe(5_000);
    expect(costs.proposed).toBe(5_000n * 8_232_000_000_000n);
  });
});
