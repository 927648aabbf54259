import { describe, expect, it } from 'vitest';
import { costTable, dollars, signed } from '#clients/client/text/money.ts';
import { detailsOf } from '#resources/costs/details.ts';
import { estimateOf, planOf } from '#test/resources/costs/support.ts';

describe('money for people', () => {
  it.each([
    ['0.0', '$0', '±$0'],
    ['-0.0', '$0', '±$0'],
    ['73.0', '$73.00', '+$73.00'],
    ['25.488', '$25.49', '+$25.49'],
    ['0.005', '$0.005', '+$0.005'],
    ['0.0083', '$0.0083', '+$0.0083'],
    ['0.01', '$0.01', '+$0.01'],
    ['0.999', '$1.00', '+$1.00'],
    ['-3.1', '−$3.10', '−$3.10'],
    ['1234567.895', '$1,234,567.90', '+$1,234,567.90'],
    ['123456789012345678901.0', '$123,456,789,012,345,678,901.00', '+$123,456,789,012,345,678,901.00'],
  ])('%s is %s, as a difference %s', (decimal, text, difference) => {
    expect([dollars(decimal), signed(decimal)]).toEqual([text, difference]);
  });
});

it('an estimate lists the largest changes first and leaves out free resources', () => {
  const { rows, free, unmatched, assumptions } = costTable(
    detailsOf(
      estimateOf(
        planOf(
          [
            { type: 'aws_vpc', after: {} },
            { type: 'aws_nat_gateway', name: 'stays', before: {}, after: {} },
            { type: 'aws_eip', name: 'comes', after: {} },
            { type: 'aws_eks_cluster', name: 'goes', before: {} },
            { type: 'unheard_of', after: {} },
          ],
          {},
        ),
      ),
    ),
  );
  expect(rows.map(({ name }) => name)).toEqual(['goes', 'comes', 'stays']);
  expect([free, unmatched.length]).toEqual([1, 1]);
  expect(assumptions).toEqual([
    'a Kubernetes version in standard support',
    'no traffic',
    'region us-east-1 assumed where the plan has none',
  ]);
});
