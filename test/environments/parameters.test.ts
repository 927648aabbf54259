import { describe, expect, it } from 'vitest';
import { matchingPreset, resolveParameters } from '#environments/builds/parameters.ts';
import type { Parameter } from '#environments/templates/plan.ts';
import { preset as presetOf } from './support.ts';

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
const preset = (name: string, parameters: Record<string, string>) => presetOf({ id: name, name, parameters });

describe('values of parameters', () => {
  const size = parameter({
    name: 'size',
    type: 'number',
    defaultValue: '10',
    min: 1,
    max: 100,
    monotonic: 'increasing',
  });
  const list = parameter({ name: 'l', type: 'list(string)' });
  const options = [option('eu'), option('us')];

  it('do not keep ephemeral values', () => {
    const once = parameter({ name: 'once', ephemeral: true, defaultValue: 'no' });
    const previous = [{ name: 'once', value: 'yes' }];
    expect(resolveParameters({ parameters: [once], requested: [], previous })).toEqual([{ name: 'once', value: 'no' }]);
  });

  it.each<[string, Parameter, string, string | undefined, RegExp]>([
    ['less than the minimum', size, '0', undefined, /parameter "size": value 0 is less than the minimum 1/],
    ['below, with a message', { ...size, error: 'at least {min}, not {value}' }, '0', undefined, /at least 1, not 0/],
    ['more than the maximum', size, '101', undefined, /more than the maximum 100/],
    ['no number', size, 'ten', undefined, /not a number/],
    ['a step back', size, '11', '12', /equal or greater than previous value: 12/],
    ['a step up', { ...size, monotonic: 'decreasing' }, '12', '11', /equal or lower than previous value: 11/],
    ['no option', parameter({ name: 'o', options }), 'xx', undefined, /match one of options: \[eu us\]/],
    ['no boolean', parameter({ name: 'b', type: 'bool' }), 'yes', undefined, /"true" or "false"/],
    [
      'no list',
      { ...list, displayName: 'Zones' },
      'x'.repeat(201),
      undefined,
      /"Zones": value "x{200}" is not a JSON list/,
    ],
    [
      'another pattern',
      parameter({ name: 'r', regex: '^[a-z]+$', error: 'small letters only' }),
      'A1',
      undefined,
      /small letters only/,
    ],
    ['a list with one that is no option', { ...list, options }, '["eu","xx"]', undefined, /match one of options/],
    ['immutable', parameter({ name: 'i', mutable: false }), 'b', 'a', /is not mutable/],
    ['empty though required', parameter({ name: 'q', required: true }), '', undefined, /value is required/],
  ])('are refused: %s', (_, one, value, before, why) => {
    const previous = before === undefined ? undefined : [{ name: one.name, value: before }];
    expect(() => resolveParameters({ parameters: [one], requested: [{ name: one.name, value }], previous })).toThrow(
      why,
    );
  });

  it.each<[string, Parameter, string, string?]>([
    ['the minimum', size, '1'],
    ['the maximum', size, '100'],
    ['the first number, when there was none', { ...size, min: -5 }, '-1', ''],
    ['the former number', size, '12', '12'],
    ['the former number', { ...size, monotonic: 'decreasing' }, '12', '12'],
    ['an option', parameter({ name: 'o', required: true, options }), 'us'],
    ['a list of options', { ...list, options }, '["eu","us"]'],
    ['an option that looks like a list', { ...list, options: [option('["eu"]')] }, '["eu"]'],
    ['a matching text', parameter({ name: 'r', regex: '^[a-z]+$' }), 'abc'],
  ])('are accepted: %s', (_, one, value, before) => {
    const previous = before === undefined ? undefined : [{ name: one.name, value: before }];
    const requested = [{ name: one.name, value }];
    expect(resolveParameters({ parameters: [one], requested, previous })).toEqual(requested);
  });

  it('are required without a default', () => {
    const parameters = [parameter({ name: 'q', required: true })];
    expect(() => resolveParameters({ parameters, requested: [] })).toThrow('"q" is required but not provided');
  });

  it('time out slow patterns, and leave the validation to the provider', () => {
    const parameters = [parameter({ name: 'slow', regex: '^(a+)+$' })];
    const requested = [{ name: 'slow', value: `${'a'.repeat(40)}!` }];
    expect(resolveParameters({ parameters, requested })).toHaveLength(1);
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
