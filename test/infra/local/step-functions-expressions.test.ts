import { describe, expect, it } from 'vitest';
import {
  checkPath,
  checkReference,
  checkRule,
  checkTemplate,
  fill,
  nextOf,
  place,
  valueAt,
} from '#infra/local/aws/step-functions/expressions.ts';

const input = {
  a: { b: [1, { c: null }], 'odd name': 'x', "it's": 'y' },
  é: 1,
  text: 'log-12.txt',
  number: 5,
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
    expect(() => checkRule({ Variable: path, StringEquals: '', Next: '' })).toThrow(message);
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

describe('a choice rule', () => {
  const next = (Variable: string, StringEquals: string) => {
    const rule = { Variable, StringEquals, Next: 'yes' };
    checkRule(rule);
    return nextOf({ Choices: [rule], Default: 'no' }, data);
  };

  it.each([
    ['$.text', 'log-12.txt', 'yes'],
    ['$.text', 'log', 'no'],
    ['$.number', '5', 'no'],
    ['$$.Task.Token', 'a token', 'yes'],
  ])('%s is compared with %s: %s', (path, text, expected) => {
    expect(next(path, text)).toBe(expected);
  });

  it.each([
    [{ Variable: '$.a', StringEquals: 'x', IsPresent: true }, 'IsPresent is not supported'],
    [{ Variable: '$.a', NumericEquals: 1 }, 'NumericEquals is not supported'],
    [{ Variable: '$.a' }, 'no StringEquals'],
    [{ StringEquals: 'x' }, 'is not a path'],
  ])('%j is rejected when a definition is parsed', (rule, message) => {
    expect(() => checkRule(rule as never)).toThrow(message);
  });

  it('fails without a value, and without a match and a default', () => {
    expect(() => next('$.missing', 'x')).toThrow('$.missing');
    expect(() => nextOf({ Choices: [] }, data)).toThrow(expect.objectContaining({ name: 'States.NoChoiceMatched' }));
  });
});
