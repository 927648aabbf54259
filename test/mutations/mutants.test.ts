import { expect, it } from 'vitest';
import { apply, mutantsOf } from './mutants.ts';

const mutated = (source: string): string[] => mutantsOf(source).map((mutant) => apply(source, mutant));

it.each([
  ['a === b;', ['(a !== b);']],
  ['if (a < 1) f();', ['if (true) f();', 'if (false) f();', 'if ((a <= 1)) f();', 'if (a < 2) f();', 'if (a < 1) ;']],
  [
    'const f = (a: boolean): boolean => !a;',
    ['const f = (a: boolean): boolean => undefined as never;', 'const f = (a: boolean): boolean => (a);'],
  ],
  ['await f();', [';']],
  ["type T = 1 | true; const a = 'x' as T;", []],
  ["logWarning('x', 1);", []],
])('%s has its changes', (source, expected) => {
  expect(mutated(source)).toEqual(expected);
});
