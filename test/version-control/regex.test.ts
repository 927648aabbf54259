import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { regexOf } from '#version-control/regex.ts';

/** RE2's own result: undefined if it rejects the expression. */
const wanted = (expression: string, text: string): boolean | undefined => {
  try {
    return RE2JS.compile(expression).matcher(text).find();
  } catch {
    return undefined;
  }
};

const found = (expression: string, text: string): boolean | undefined => {
  try {
    return regexOf(expression)(text);
  } catch {
    return undefined;
  }
};

const texts = [
  '',
  'a',
  'b',
  'ab',
  'aab',
  'v1',
  'v1.2.3',
  'x-v1.2.3',
  'v1.2.3-rc1',
  'a\nb',
  'é',
  '😀',
  ']',
  'a-z',
  '^',
  '\\',
];

describe('expressions', () => {
  it.each([
    '',
    'a',
    '^a$',
    '^v\\d+\\.\\d+\\.\\d+$',
    '\\d+.\\d+.\\d+$',
    'v(?:\\d+)(-rc\\d)?$',
    '(?P<major>\\d+)\\.',
    '(?<m>\\d+)',
    'a|b',
    '^(a|b)*$',
    '^(a|)+$',
    'a{2}',
    '^a{1,2}b',
    'a{0}',
    'a{2,}',
    'a{,2}',
    'x{',
    '[a-c]+',
    '[^a]',
    '^[^a]$',
    '[]a]',
    '[a-]',
    '[\\d.]+$',
    '[\\]]',
    '[\\\\]',
    '.',
    '^.$',
    'a.b',
    'a\\nb',
    '\\Av1',
    '3\\z',
    '\\W',
    '\\S\\s\\S',
    '^$',
    '$^',
    '(^a|b$)',
    '(a*)*b',
    '(a??b)+?',
    '^*',
    '(|a)*',
  ])('%j matches like RE2', (expression) => {
    for (const text of texts) expect(found(expression, text), JSON.stringify(text)).toBe(wanted(expression, text));
    expect(found(expression, 'a')).toBeTypeOf('boolean');
  });

  it.each([
    '(',
    ')',
    'a**',
    '*',
    '+a',
    '(?',
    '[a',
    '[b-a]',
    '[a-\\d]',
    'a{2,1}',
    'a{1001}',
    '(?=a)',
    '(?<!a)',
    '\\1',
    '\\',
    '\\q',
  ])('%j is rejected, as by RE2', (expression) => {
    expect(() => regexOf(expression)).toThrow();
    expect(wanted(expression, 'a')).toBeUndefined();
  });

  it.each(['\\bx', '(?i)a', '[[:alpha:]]', '\\pL', '\\Qa', '((a{1000}){1000})'])(
    '%j is rejected by name',
    (expression) => {
      expect(() => regexOf(expression)).toThrow(/not supported|too large/);
    },
  );

  it('generated at random match like RE2 or are rejected', () => {
    const pieces = [
      'a',
      'b',
      '1',
      '.',
      '\\d',
      '\\w',
      '[ab]',
      '[^a]',
      '(',
      '(?:',
      ')',
      '|',
      '*',
      '+',
      '?',
      '{1,2}',
      '^',
      '$',
      '-',
    ];
    let compared = 0;
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    for (let i = 0; i < 3000; i++) {
      const expression = Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]).join('');
      for (const text of ['', 'a', 'ab', 'b1a', 'v1-ab']) {
        const answer = found(expression, text);
        if (answer === undefined) continue;
        compared++;
        expect([expression, text, answer]).toEqual([expression, text, wanted(expression, text)]);
      }
    }
    expect(compared).toBeGreaterThan(1000);
  });
});
