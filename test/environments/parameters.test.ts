import { describe, expect, it } from 'vitest';
import { matchingPreset, resolveParameters } from '#environments/builds/parameters.ts';
import type { Parameter, Preset } from '#environments/templates/plan.ts';

const parameter = (given: Partial<Parameter> & { name: string }): Parameter => ({
  displayName: '',
  description: '',
  type: 'string',
  formType: 'input',
  mutable: true,
  ephemeral: false,
  defaultValue: '',
  required: false,
  order: 0,
  icon: '',
  options: [],
  regex: '',
  error: '',
  monotonic: '',
  ...given,
});
const option = (value: string) => ({ name: value, value, description: '', icon: '' });
const preset = (name: string, parameters: Record<string, string>): Preset => ({
  id: name,
  name,
  description: '',
  icon: '',
  isDefault: false,
  parameters,
});

describe('values of parameters', () => {
  const size = parameter({
    name: 'size',
    type: 'number',
    defaultValue: '10',
    min: 1,
    max: 100,
    monotonic: 'increasing',
  });

  it.each([
    ['the preset', { requested: [{ name: 'size', value: '5' }], preset: preset('p', { size: '7' }) }, '7'],
    ['the request', { requested: [{ name: 'size', value: '12' }], previous: [{ name: 'size', value: '11' }] }, '12'],
    ['the build before', { requested: [], previous: [{ name: 'size', value: '11' }] }, '11'],
    ['the default', { requested: [] }, '10'],
  ])('come from %s', (_, given, value) => {
    expect(resolveParameters({ parameters: [size], ...given })).toEqual([{ name: 'size', value }]);
  });

  it('do not keep ephemeral values', () => {
    const once = parameter({ name: 'once', ephemeral: true, defaultValue: 'no' });
    const previous = [{ name: 'once', value: 'yes' }];
    expect(resolveParameters({ parameters: [once], requested: [], previous })).toEqual([{ name: 'once', value: 'no' }]);
  });

  it.each<[string, Parameter, string, string | undefined, RegExp]>([
    ['less than the minimum', size, '0', undefined, /less than the minimum 1/],
    ['more than the maximum', size, '101', undefined, /more than the maximum 100/],
    ['no number', size, 'ten', undefined, /not a number/],
    ['a step back', size, '11', '12', /equal or greater than previous value: 12/],
    [
      'no option',
      parameter({ name: 'o', options: [option('eu'), option('us')] }),
      'xx',
      undefined,
      /match one of options: \[eu us\]/,
    ],
    ['no boolean', parameter({ name: 'b', type: 'bool' }), 'yes', undefined, /"true" or "false"/],
    ['no list', parameter({ name: 'l', type: 'list(string)' }), 'a,b', undefined, /JSON list/],
    [
      'another pattern',
      parameter({ name: 'r', regex: '^[a-z]+$', error: 'small letters only' }),
      'A1',
      undefined,
      /small letters only/,
    ],
    ['immutable', parameter({ name: 'i', mutable: false }), 'b', 'a', /is not mutable/],
    ['empty though required', parameter({ name: 'q', required: true }), '', undefined, /value is required/],
  ])('are refused: %s', (_, one, value, before, why) => {
    const previous = before === undefined ? undefined : [{ name: one.name, value: before }];
    expect(() => resolveParameters({ parameters: [one], requested: [{ name: one.name, value }], previous })).toThrow(
      why,
    );
  });

  it('are required without a default', () => {
    const parameters = [parameter({ name: 'q', required: true })];
    expect(() => resolveParameters({ parameters, requested: [] })).toThrow('"q" is required but not provided');
  });

  it('time out slow patterns, and leave the validation to the provider', () => {
    const parameters = [parameter({ name: 'slow', regex: '^(a+)+$' })];
    const requested = [{ name: 'slow', value: `${'a'.repeat(40)}!` }];
    const begun = Date.now();
    expect(resolveParameters({ parameters, requested })).toHaveLength(1);
    expect(Date.now() - begun).toBeLessThan(5000);
  });
});

it('the preset with the most matching values is found', () => {
  const presets = [preset('one', { a: '1' }), preset('two', { a: '1', b: '2' }), preset('other', { a: '9' })];
  const requested = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2' },
  ];
  expect(matchingPreset(presets, requested)?.name).toBe('two');
  expect(matchingPreset(presets, [{ name: 'a', value: '3' }])).toBeUndefined();
});
