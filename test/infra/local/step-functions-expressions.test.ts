import { describe, expect, it } from 'vitest';
import {
  checkPath,
  checkReference,
  checkRule,
  checkTemplate,
  fill,
  nextOf,
  place,
  type Rule,
  select,
  valueAt,
} from '#infra/local/aws/step-functions/expressions.ts';

const input = {
  a: { b: [1, { c: null }], 'odd name': 'x', "it's": 'y' },
  é: 1,
  text: 'log-12.txt',
  number: 5,
  yes: true,
  at: '2030-01-01T01:00:00+01:00',
  same: '2030-01-01T00:00:00Z',
};
const context = { Task: { Token: 'a token' } };
const data = { input, context };

describe('a path', () => {
  it.each([
    ['$', input],
    ['$.a.b', [1, { c: null }]],
    ['$.a.b[1].c', null],
    ["$['a']['odd name']", 'x'],
    ["$.a['it\\'s']", 'y'],
    ['$.é', 1],
    ['$$', context],
    ['$$.Task.Token', 'a token'],
  ])('%s selects its value', (path, expected) => {
    checkPath(path);
    expect(valueAt(path, data)).toEqual(expected);
  });

  it.each([
    ['$.missing', "could not be found in the input '{"],
    ['$.a.b[2]', 'could not be found'],
    ['$.a.length', 'could not be found'],
    ['$.text.length', 'could not be found'],
    ['$.a[0]', 'could not be found'],
    ['$.constructor', 'could not be found'],
    ['$$.Map.Item', 'could not be found in the context object'],
  ])('%s fails if its value is missing', (path, message) => {
    expect(() => valueAt(path, data)).toThrow(message);
  });

  it.each([
    ["States.Format('{}', $.a)", 'intrinsic functions are not supported'],
    ['a.b', 'is not a path'],
    ['$.a[*]', '[*] in the path $.a[*] is not supported'],
    ['$..a', '..a in the path'],
    ['$.a[?(@.b)]', 'is not supported'],
    ['$.a[0:1]', 'is not supported'],
    ['$.', 'is not supported'],
    ['$a', 'is not supported'],
  ])('%s is rejected when a definition is parsed', (path, message) => {
    expect(() => checkPath(path)).toThrow(message);
    expect(() => checkTemplate({ deep: [{ 'x.$': path }] })).toThrow(message);
    expect(() => checkRule({ Variable: path, IsNull: true })).toThrow(message);
  });

  it('selects nothing if it is null, and everything if it is absent', () => {
    expect([select(null, data), select(undefined, data), select('$.yes', data)]).toEqual([{}, input, true]);
  });
});

it('templates are filled with copies of the data', () => {
  const filled = fill({ 'it.$': '$.a', more: [{ 'of.$': '$$.Task.Token' }, 1, null], plain: '$.a' }, data);
  expect(filled).toEqual({ it: input.a, more: [{ of: 'a token' }, 1, null], plain: '$.a' });
  (filled as { it: { b: unknown[] } }).it.b.push(2);
  expect(input.a.b).toHaveLength(2);
});

it('results are placed at their path', () => {
  expect(place({ a: 1 }, undefined, 2)).toBe(2);
  expect(place({ a: 1 }, '$', 2)).toBe(2);
  expect(place({ a: 1 }, null, 2)).toEqual({ a: 1 });
  expect(place({ a: 1 }, '$.b.c', 2)).toEqual({ a: 1, b: { c: 2 } });
  expect(place({ a: { b: 1 } }, '$.a.c', 2)).toEqual({ a: { b: 1, c: 2 } });
  expect(() => place([1], '$.a', 2)).toThrow(expect.objectContaining({ name: 'States.ResultPathMatchFailure' }));
  expect(() => checkReference('$$.a')).toThrow('not a field');
  expect(() => checkReference('$.a[0]')).toThrow('not a field');
});

const holds = (rule: Rule): boolean => {
  checkRule(rule);
  return nextOf({ Choices: [{ ...rule, Next: 'yes' }], Default: 'no' }, data) === 'yes';
};
const text = (comparison: object): Rule => ({ Variable: '$.text', ...comparison });
const number = (comparison: object): Rule => ({ Variable: '$.number', ...comparison });

describe('a choice rule', () => {
  it.each<[Rule, boolean]>([
    [text({ StringEquals: 'log-12.txt' }), true],
    [text({ StringEquals: 'log' }), false],
    [text({ StringLessThan: 'm' }), true],
    [text({ StringGreaterThan: 'log-12.txt' }), false],
    [text({ StringGreaterThanEquals: 'log-12.txt' }), true],
    [text({ StringEqualsPath: '$.text' }), true],
    [text({ StringMatches: 'log-*.txt' }), true],
    [text({ StringMatches: 'log-..txt' }), false],
    [text({ StringMatches: '*' }), true],
    [text({ StringMatches: 'log-\\*.txt' }), false],
    [text({ NumericEquals: 12 }), false],
    [number({ NumericEquals: 5 }), true],
    [number({ NumericLessThan: 5 }), false],
    [number({ NumericLessThanEquals: 5 }), true],
    [number({ NumericGreaterThan: 4.5 }), true],
    [number({ StringEquals: '5' }), false],
    [{ Variable: '$.yes', BooleanEquals: true }, true],
    [{ Variable: '$.yes', BooleanEquals: false }, false],
    [{ Variable: '$.text', BooleanEquals: false }, false],
    [{ Variable: '$.at', TimestampEquals: '2030-01-01T00:00:00Z' }, true],
    [{ Variable: '$.at', TimestampEqualsPath: '$.same' }, true],
    [{ Variable: '$.at', TimestampLessThan: '2030-01-01T00:00:00Z' }, false],
    [{ Variable: '$.text', TimestampLessThan: '2030-01-01T00:00:00Z' }, false],
    [{ Variable: '$.missing', IsPresent: false }, true],
    [{ Variable: '$.text', IsPresent: true }, true],
    [{ Variable: '$.a.b[1].c', IsNull: true }, true],
    [{ Variable: '$.text', IsNull: false }, true],
    [{ Variable: '$.text', IsString: true }, true],
    [{ Variable: '$.number', IsNumeric: true }, true],
    [{ Variable: '$.yes', IsBoolean: true }, true],
    [{ Variable: '$.at', IsTimestamp: true }, true],
    [{ Variable: '$.text', IsTimestamp: true }, false],
    [{ Variable: '$$.Task.Token', StringEquals: 'a token' }, true],
    [{ Not: number({ NumericEquals: 5 }) }, false],
    [{ And: [number({ NumericEquals: 5 }), text({ StringEquals: 'x' })] }, false],
    [{ Or: [number({ NumericEquals: 5 }), text({ StringEquals: 'x' })] }, true],
    [
      {
        And: [
          { Variable: '$.missing', IsPresent: true },
          { Variable: '$.missing', StringEquals: 'x' },
        ],
      },
      false,
    ],
  ])('%j: %s', (rule, expected) => {
    expect(holds(rule)).toBe(expected);
  });

  it.each<[object, string]>([
    [{ Variable: '$.a', StringLike: 'x' }, 'StringLike is not supported'],
    [{ Variable: '$.a', BooleanLessThan: true }, 'BooleanLessThan is not supported'],
    [{ Variable: '$.a', StringThan: 'x' }, 'StringThan is not supported'],
    [{ Variable: '$.a', toString: 'x' }, 'toString is not supported'],
    [{ Variable: '$.a' }, 'one comparison'],
    [{ Variable: '$.a', IsNull: true, IsPresent: true }, 'one comparison'],
    [{ And: [{ Variable: '$.a', Like: 1 }] }, 'Like is not supported'],
    [{ Not: { Variable: '$.a', StringEqualsPath: 'b' } }, 'is not a path'],
  ])('%j is rejected when a definition is parsed', (rule, message) => {
    expect(() => checkRule(rule as Rule)).toThrow(message);
  });

  it('fails if its variable is missing, or if no rule matches and there is no Default', () => {
    expect(() => holds({ Variable: '$.missing', StringEquals: 'x' })).toThrow('$.missing');
    expect(() => holds(number({ NumericEqualsPath: '$.text' }))).toThrow('$.text is no value for NumericEqualsPath');
    const unmatched = { Choices: [{ Variable: '$.number', NumericEquals: 1, Next: 'x' }] };
    expect(() => nextOf(unmatched, data)).toThrow(expect.objectContaining({ name: 'States.NoChoiceMatched' }));
  });
});
