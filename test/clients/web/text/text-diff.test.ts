import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Line, shortened, textDifference } from '#clients/web/text/text-diff.ts';

const textOf = (lines: Line[]): string => lines.map(({ parts }) => parts.map(({ text }) => text).join('')).join('\n');

const marked = (lines: Line[]): string[] =>
  lines.flatMap(({ parts }) => parts.filter(({ changed }) => changed).map(({ text }) => text));

describe('the difference of two texts', () => {
  it('contains both texts completely', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ab', '', '🚀b', 'x'), { maxLength: 12 })
      .map((all) => all.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const difference = textDifference(before, after);
        expect(textOf(difference.before)).toBe(before);
        expect(textOf(difference.after)).toBe(after);
        const same = (lines: Line[]) => lines.filter((line) => line.same).map((line) => textOf([line]));
        expect(same(difference.before)).toEqual(same(difference.after));
      }),
    );
  });

  it('marks changes within a line, and added or removed lines', () => {
    const { before, after } = textDifference(
      '{\n  "Effect": "Allow",\n  "Sid": "a"\n}',
      '{\n  "Effect": "Deny",\n  "Sid": "a",\n  "New": 1\n}',
    );
    expect(marked(before)).toEqual(['Allow']);
    expect(marked(after)).toEqual(['Deny', ',', '  "New": 1']);
  });

  it('hides unchanged lines, except two lines of context', () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`);
    const { after } = textDifference(lines.join('\n'), lines.with(9, 'other').join('\n'));
    expect(shortened(after).map((row) => (typeof row === 'number' ? row : textOf([row])))).toEqual([
      7,
      'line 7',
      'line 8',
      'other',
      'line 10',
      'line 11',
      8,
    ]);
  });
});
