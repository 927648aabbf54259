import { expect, it, vi } from 'vitest';
import { apply, marked, mutantsOf } from './mutants.ts';

const mutated = (source: string): string[] => mutantsOf(source).map((mutant) => apply(source, mutant));

it.each([
  ['a === b;', ['(a !== b);']],
  ['if (a < 1) f();', ['if (true) f();', 'if (false) f();', 'if ((a <= 1)) f();', 'if (a < 1) ;']],
  ['const max = 9;', []],
  [
    'function f() { g(9); return undefined; }',
    ['function f() { ; return undefined; }', 'function f() { g(10); return undefined; }'],
  ],
  [
    'const f = (a: boolean): boolean => !a;',
    ['const f = (a: boolean): boolean => undefined as never;', 'const f = (a: boolean): boolean => (a);'],
  ],
  ['await f();', [';']],
  ['(a ?? 1) < b;', ['((a ?? 1) <= b);', '((a && 1)) < b;']],
  [
    'const f = () => { g(a < b ? -1 : 1); };',
    [
      'const f = () => { ; };',
      'const f = () => { g(true ? -1 : 1); };',
      'const f = () => { g(false ? -1 : 1); };',
      'const f = () => { g((a <= b) ? -1 : 1); };',
    ],
  ],
  ["type T = 1 | true; const a = 'x' as T;", []],
  ["logWarning('x', 1);", []],
  ["f().catch((why) => logError('x', why));", [';']],
])('the code %s has the expected mutants', (source, expected) => {
  expect(mutated(source)).toEqual(expected);
});

it('marked code records the executed places, and behaves as before', () => {
  const source = 'const f = (a, n) => { if (a && n > 1) { g(n); return { 1: true }; } return a ? n : !n; }; return f;';
  const mutants = mutantsOf(source.replace('return f;', ''));
  const code = marked(source.replace('return f;', ''), new Map(mutants.map((mutant, number) => [mutant, number])));
  const executed = new Set<number>();
  vi.stubGlobal('__vitest_executed', executed);
  const calls: number[] = [];
  const f = new Function('g', `${code}; return f;`)((n: number) => calls.push(n)) as (a: boolean, n: number) => unknown;
  expect(f(true, 2)).toEqual({ 1: true });
  const notExecuted = mutants.filter((_, number) => !executed.has(number)).map(({ before }) => before);
  expect(notExecuted.toSorted()).toEqual(['!n', 'a', 'a', 'a ? n : !n']);
  expect(f(false, 0)).toBe(true);
  expect(executed.size).toBe(mutants.length);
  expect(calls).toEqual([2]);
});
