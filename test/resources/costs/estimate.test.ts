import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimal, format, quantity, round, times } from '#resources/costs/decimal.ts';
import { detailsOf } from '#resources/costs/details.ts';
import { type Change, estimateOf, planOf } from './support.ts';

const types = ['t3.micro', 'm5.large', 'c7g.xlarge', 'no.such'];
const values = fc.oneof(
  fc.constant(null),
  fc.record({ instance_type: fc.constantFrom(...types), root_block_device: fc.constant([]) }),
);
const arbitraryChange: fc.Arbitrary<Change> = fc
  .record({ before: values, after: values, index: fc.nat(9) })
  .map((one) => ({ type: 'aws_instance', ...one }));
const arbitrary = fc.array(arbitraryChange, { maxLength: 30 });
const add = (all: string[]) => format(all.reduce((sum, one) => sum + decimal(one), 0n));

describe('an estimate', () => {
  it('is the sum of its parts on the page and in text', () => {
    fc.assert(
      fc.property(arbitrary, (changes) => {
        const costs = estimateOf(planOf(changes));
        const { matched, unmatched } = detailsOf(costs);
        expect(matched.length + unmatched.length).toBe(changes.length);
        expect(add(matched.map((one) => one['prior-monthly-cost']))).toBe(format(costs.prior));
        expect(add(matched.map((one) => one['proposed-monthly-cost']))).toBe(format(costs.proposed));
        expect(add(matched.map((one) => one['delta-monthly-cost']))).toBe(format(costs.proposed - costs.prior));
        for (const one of matched) {
          expect(decimal(one['delta-hourly-cost'])).toBe(
            decimal(one['proposed-hourly-cost']) - decimal(one['prior-hourly-cost']),
          );
        }
      }),
    );
  });

  it('does not depend on the order of resources', () => {
    const shuffled = arbitrary.chain((changes) =>
      fc.tuple(fc.constant(changes), fc.shuffledSubarray(changes, { minLength: changes.length })),
    );
    fc.assert(
      fc.property(shuffled, ([changes, others]) => {
        const [one, other] = [estimateOf(planOf(changes)), estimateOf(planOf(others))];
        expect([other.prior, other.proposed, other.matched.length]).toEqual([
          one.prior,
          one.proposed,
          one.matched.length,
        ]);
      }),
    );
  });

  it('counts removed resources as prior, new ones as proposed, and unchanged ones as both', () => {
    const machine = { instance_type: 't3.micro' };
    const costs = detailsOf(
      estimateOf(
        planOf([
          { type: 'aws_instance', name: 'goes', before: machine },
          { type: 'aws_instance', name: 'comes', after: machine },
          { type: 'aws_instance', name: 'stays', before: machine, after: machine },
          { type: 'aws_instance', name: 'grows', before: machine, after: { instance_type: 't3.small' } },
          { type: 'aws_ami', name: 'read', after: {}, mode: 'data' },
        ]),
      ),
    );
    expect(costs.matched.map((one) => [one.name, one['delta-monthly-cost']])).toEqual([
      ['goes', '-8.232'],
      ['comes', '8.232'],
      ['stays', '0.0'],
      ['grows', '7.592'],
    ]);
    expect(costs.matched[1]).toMatchObject({
      address: 'aws_instance.comes',
      'proposed-hourly-cost': '0.011277',
      'price-sources': ['price-file'],
      assumptions: ['Linux, on demand', 'a root volume of 8 GiB'],
    });
  });

  it('counts many resources, and lists the most expensive within the size limit', () => {
    const volumes: Change[] = Array.from({ length: 20_000 }, (_, index) => ({
      type: 'aws_ebs_volume',
      name: index % 2 ? 'plain' : '\u0001'.repeat(2_000),
      index,
      after: { size: index % 100 === 7 ? 500 : 1 },
    }));
    const unheard: Change[] = Array.from({ length: 10_000 }, (_, index) => ({ type: 'unheard_of', index, after: {} }));
    const costs = estimateOf(planOf([...volumes, ...unheard]));
    expect([costs.matched.length, costs.unmatched.length]).toEqual([20_000, 10_000]);
    const listed = detailsOf(costs);
    expect(listed.matched.filter((one) => one['proposed-monthly-cost'] === '50.0').length).toBe(200);
    expect(listed.matched.length).toBeGreaterThan(200);
    expect(listed.unmatched.length).toBeGreaterThan(1_000);
    expect(JSON.stringify(listed).length).toBeLessThan(4.2 * 1024 * 1024);
  });
});

describe('money', () => {
  it('is exact', () => {
    expect(format(decimal('0.1') + decimal('0.2'))).toBe('0.3');
    expect(format(decimal('-3.10'))).toBe('-3.1');
    expect(format(0n)).toBe('0.0');
    expect(format(times(decimal('0.0000166667'), quantity(12_500)))).toBe('0.20833375');
    expect(format(round(decimal('0.00005'), 4))).toBe('0.0001');
    expect(format(round(decimal('-0.00005'), 4))).toBe('-0.0001');
    expect(() => decimal('1e5')).toThrow(RangeError);
  });

  it('parses its own output', () => {
    fc.assert(fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (n) => decimal(format(n)) === n));
  });
});
