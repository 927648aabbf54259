import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { csvCell, csvOf } from '#platform/formats/csv.ts';

it.each(['=1+1', '+1+1', '-1+1', '@SUM(1)', '\t=1', '\r=1', '\n=1', '＝1', '－1', '=cmd|" /C calc"!A0'])(
  'the formula %j is written as text',
  (formula) => {
    expect(csvCell(formula)).toMatch(/^"?'/);
    expect(csvCell(formula, true)).toMatch(/^"'/);
  },
);

it.each([
  ['a', 'a'],
  ['a=1', 'a=1'],
  ["'a", "'a"],
  [-5, '-5'],
  ['-5.25', '-5.25'],
  ['+49', '+49'],
  [null, ''],
  [undefined, ''],
  [false, 'false'],
  ['a,b', '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ['a\nb', '"a\nb"'],
])('a CSV cell keeps %j, quoted if necessary', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

it('every line of CSV is terminated', () => {
  expect(csvOf(['a', 'b'], [[1, '=2']])).toBe("a,b\r\n1,'=2\r\n");
  expect(csvOf(['a'], [], true)).toBe('"a"\r\n');
});

it('csv.ts is the only code that writes CSV', async () => {
  const root = new URL('../../../', import.meta.url).pathname;
  const doubled: string[] = [];
  for await (const file of glob('functions/**/*.{ts,tsx}', { cwd: root })) {
    if (readFileSync(`${root}${file}`, 'utf8').includes(`replaceAll('"', '""')`)) doubled.push(file);
  }
  expect(doubled).toEqual(['functions/platform/formats/csv.ts']);
});
