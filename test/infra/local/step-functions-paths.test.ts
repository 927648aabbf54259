import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fillTemplate } from '#infra/local/aws/step-functions/evaluate.ts';

const place = { stateName: 'S', enteredId: 2, context: { Task: { Token: 'a token' }, 'odd name': 1 }, now: 0 };

const outcome = async (template: object, input: unknown): Promise<unknown> =>
  fillTemplate(template, input, place).catch((error: Error) => `${error.name} ${JSON.stringify(error)}`);

/** The same path in brackets, which only the library reads. */
const inBrackets = (path: string): string => {
  const [root = '', ...names] = path.split('.');
  return names.length === 0 ? path : `${root}${names.map((name) => `['${name}']`).join('')}`;
};

it('plain paths give the same values as the library', async () => {
  const name = fc.constantFrom('a', 'b', 'length', 'missing');
  const root = fc.constantFrom('$', '$$.context');
  const path = fc.tuple(root, fc.array(name, { maxLength: 3 })).map(([start, names]) => [start, ...names].join('.'));
  const leaf = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant([{ a: 1 }]));
  const map = (inner: fc.Arbitrary<unknown>) => fc.dictionary(fc.constantFrom('a', 'b'), inner);
  const input = map(fc.oneof(leaf, map(fc.oneof(leaf, map(leaf)))));
  let filled = 0;
  await fc.assert(
    fc.asyncProperty(path, input, async (text, value) => {
      const [plain, bracketed] = await Promise.all([
        outcome({ fixed: 1, 'it.$': text }, value),
        outcome({ fixed: 1, 'it.$': inBrackets(text) }, value),
      ]);
      if (typeof plain === 'object') {
        filled++;
        expect(plain).toEqual(bracketed);
      } else expect(typeof bracketed).toBe('string');
    }),
    { numRuns: 200 },
  );
  expect(filled).toBeGreaterThan(20);
});

it('a task gets its own copy of its input', async () => {
  const input = { a: { b: 1 } };
  const filled = (await fillTemplate({ 'it.$': '$.a', token: { 'of.$': '$$.context.Task.Token' } }, input, place)) as {
    it: { b: number };
  };
  expect(filled).toEqual({ it: { b: 1 }, token: { of: 'a token' } });
  filled.it.b = 2;
  expect(input.a.b).toBe(1);
});
