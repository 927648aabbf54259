import { describe, expect, it } from 'vitest';
import { withoutKeys } from '#resources/costs/regions.ts';
import { type Change, estimateOf, planOf } from './support.ts';

type Json = Record<string, unknown>;

const address: Change = { type: 'aws_nat_gateway', after: {} };
const region = (one: Change, more: Json): string => {
  const [billed] = estimateOf(planOf([one], more), 'ap-southeast-1').matched;
  return `${billed?.region}${billed?.regionAssumed ? ' assumed' : ''}`;
};
const provider = (expression: unknown, more: Json = {}) => ({
  configuration: { provider_config: { aws: { name: 'aws', expressions: { region: expression }, ...more } } },
});
const variables = { variables: { region: { value: 'eu-central-1' }, all: { value: { region: 'us-west-2' } } } };

describe('the region of a resource', () => {
  it.each<[string, Change, Json, string]>([
    ['its provider’s', address, provider({ constant_value: 'eu-west-1' }), 'eu-west-1'],
    ['a variable', address, { ...provider({ references: ['var.region'] }), ...variables }, 'eu-central-1'],
    [
      'inside a variable',
      address,
      { ...provider({ references: ['var.all.region', 'var.all'] }), ...variables },
      'us-west-2',
    ],
    ['a local value', address, provider({ references: ['local.region'] }), 'ap-southeast-1 assumed'],
    ['not said', address, {}, 'ap-southeast-1 assumed'],
    ['nonsense', address, provider({ constant_value: '../../etc' }), 'ap-southeast-1 assumed'],
    ['not an expression', address, provider('eu-west-1'), 'ap-southeast-1 assumed'],
    [
      'inherited',
      address,
      { ...provider({ references: ['var.__proto__.region'] }), ...variables },
      'ap-southeast-1 assumed',
    ],
    [
      'its own, from provider 6.0 on',
      { ...address, after: { region: 'eu-west-1' } },
      provider({ constant_value: 'us-east-1' }),
      'eu-west-1',
    ],
    ['that of its zone', { ...address, after: { availability_zone: 'eu-central-1b' } }, {}, 'eu-central-1'],
    ['that of its ARN', { ...address, after: { arn: 'arn:aws:ec2:us-west-2:1:natgateway/x' } }, {}, 'us-west-2'],
    ['that it had', { ...address, before: { arn: 'arn:aws:ec2:us-west-2:1:natgateway/x' } }, {}, 'us-west-2'],
  ])('is %s', (_name, one, more, expected) => {
    expect(region(one, more)).toBe(expected);
  });

  it('is that of the provider configuration it names, module by module', () => {
    const resource = { type: 'aws_nat_gateway', name: 'this', provider_config_key: 'aws.west' };
    const more = {
      configuration: {
        provider_config: {
          aws: { expressions: { region: { constant_value: 'us-east-1' } } },
          'aws.west': { alias: 'west', expressions: { region: { constant_value: 'us-west-2' } } },
        },
        root_module: { module_calls: { net: { module: { resources: [resource] } } } },
      },
    };
    expect(region({ ...address, module: 'module.net["a.b"]' }, more)).toBe('us-west-2');
    expect(region(address, more)).toBe('us-east-1');
  });

  it('changes the price: a move has a prior cost in one region and a proposed cost in the other', () => {
    const moved = estimateOf(
      planOf([{ type: 'aws_nat_gateway', before: { region: 'us-east-1' }, after: { region: 'eu-central-1' } }]),
    );
    expect(moved.prior).toBe(32_850_000_000_000n);
    expect(moved.proposed).toBe(37_960_000_000_000n);
  });
});

it('module addresses lose their keys, with any characters in them', () => {
  expect(withoutKeys('module.a[0].module.b["x.y[\\"]z"].module.c')).toBe('module.a.module.b.module.c');
  expect(withoutKeys('module.a["unclosed')).toBe('module.a');
});
