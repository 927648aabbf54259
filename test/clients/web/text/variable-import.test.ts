import { expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { importOf } from '#clients/web/text/variable-import.ts';

const variable = (key: string, value: string | null, more = {}): Resource<'vars'> =>
  ({
    id: `var-${key}`,
    type: 'vars',
    attributes: { key, value, hcl: false, category: 'terraform', sensitive: value === null, ...more },
  }) as unknown as Resource<'vars'>;

it('an import reads strings as text and anything else as HCL', () => {
  const file = 'region = "eu"\ncount_of = 3\nzones = ["a"]\non = true\nnote = <<EOT\nline\nEOT\n';
  expect(importOf(file, [], []).map(({ key, value, hcl }) => [key, value, hcl])).toEqual([
    ['region', 'eu', false],
    ['count_of', '3', true],
    ['zones', '["a"]', true],
    ['on', 'true', true],
    ['note', 'line\n', false],
  ]);
});

it('an import reads JSON too', () => {
  expect(importOf(' {"a": "$\x7bx}", "b": {"c": 1}}', [], [])).toMatchObject([
    { key: 'a', value: '$\x7bx}', hcl: false },
    { key: 'b', value: '{"c":1}', hcl: true },
  ]);
});

it('an import shows what each variable replaces', () => {
  const own = [
    variable('same', 'x'),
    variable('other', 'x'),
    variable('typed', '3'),
    variable('password', null),
    variable('environment', 'x', { category: 'env' }),
  ];
  const ofSets: [Resource<'vars'>, string][] = [[variable('shared', 'y'), 'defaults']];
  const file = 'same = "x"\nother = "y"\ntyped = 3\npassword = "p"\nenvironment = "x"\nshared = "z"\n';
  expect(
    importOf(file, own, ofSets).map(({ key, state, overrides, looksSecret }) => [key, state, overrides, looksSecret]),
  ).toEqual([
    ['same', 'same', undefined, false],
    ['other', 'changed', undefined, false],
    ['typed', 'changed', undefined, false],
    ['password', 'hidden', undefined, true],
    ['environment', 'new', undefined, false],
    ['shared', 'new', 'defaults', false],
  ]);
});

it.each([
  ['a = 1\nwhat', 'line 2'],
  ['a = 1\na = 2', 'line 2: give each variable once'],
  ['{"a": ', 'not a JSON object'],
])('an import rejects %j with the line', (text, why) => expect(() => importOf(text, [], [])).toThrow(why));
