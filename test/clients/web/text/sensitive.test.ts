import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '#clients/client/text/plan.ts';
import { rowsOf } from '#clients/client/text/plan-rows.ts';
import { type State, stateDifferences } from '#clients/web/text/state.ts';
import { redactPlan } from '#runner/program/redact.ts';

/** No text that Terraform marks as sensitive is shown, in any structure. */

type Path = { type: string; value: unknown }[];

/** A value with its cty type, its sensitive paths, and the marks that a plan has for the same paths. */
interface Made {
  value: unknown;
  type: unknown;
  paths: Path[];
  marks: unknown;
}

const secret = fc.integer({ min: 0, max: 99_999 }).map((n) => `SECRET-${n}`);
const name = fc.oneof(
  fc.constantFrom('a', 'value', 'type', 'input', '__proto__', 'constructor', 'k.1', 'x y', '0'),
  fc.string({ minLength: 1, maxLength: 4 }),
);
const index = (value: string | number) => ({ type: 'index', value: { value, type: typeof value } });
const attribute = (value: string) => ({ type: 'get_attr', value });

const open: fc.Arbitrary<Made> = fc
  .oneof(
    fc.constantFrom('string', 'plain', 'other').map((value) => ({ value, type: 'string' })),
    fc.integer().map((value) => ({ value, type: 'number' })),
    fc.constant({ value: null, type: 'string' }),
  )
  .map((marked) => ({ ...marked, paths: [], marks: false }));
const closed: fc.Arbitrary<Made> = secret.map((value) => ({ value, type: 'string', paths: [[]], marks: true }));

const under = (step: Path[number], paths: Path[]): Path[] => paths.map((path) => [step, ...path]);

const objectOf = (entries: [string, Made][], isMap: boolean): Made => ({
  value: Object.fromEntries(entries.map(([key, { value }]) => [key, value])),
  type: ['object', Object.fromEntries(entries.map(([key, { type }]) => [key, type]))],
  paths: entries.flatMap(([key, { paths }]) => under(isMap ? index(key) : attribute(key), paths)),
  marks: Object.fromEntries(entries.map(([key, { marks }]) => [key, marks])),
});

const listOf = (elements: Made[]): Made => ({
  value: elements.map(({ value }) => value),
  type: ['tuple', elements.map(({ type }) => type)],
  paths: elements.flatMap(({ paths }, i) => under(index(i), paths)),
  marks: elements.map(({ marks }) => marks),
});

/** The whole set is marked, because its elements have no keys. An older Terraform marked the element. */
const setOf = (elements: Made[], byElement: boolean): Made => {
  const list = listOf(elements);
  const type = ['set', 'dynamic'];
  if (list.paths.length === 0) return { ...list, type };
  const value = { value: elements[0]?.value, type: elements[0]?.type };
  return { ...list, type, marks: true, paths: byElement ? [[{ type: 'index', value }]] : [[]] };
};

const whole = (marked: Made): Made => ({ ...marked, paths: [[]], marks: true });

const { tree } = fc.letrec<{ tree: Made }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    open,
    closed,
    fc
      .tuple(fc.uniqueArray(fc.tuple(name, tie('tree')), { maxLength: 4, selector: ([key]) => key }), fc.boolean())
      .map(([entries, isMap]) => objectOf(entries, isMap)),
    fc.array(tie('tree'), { maxLength: 3 }).map(listOf),
    fc.tuple(fc.array(tie('tree'), { maxLength: 3 }), fc.boolean()).map(([elements, by]) => setOf(elements, by)),
    tie('tree').map(whole),
  ),
}));

const dynamic = (marked: Made): Made => ({ ...marked, value: { value: marked.value, type: marked.type } });

const attributes = fc
  .uniqueArray(fc.tuple(name, tree, fc.boolean()), { maxLength: 4, selector: ([key]) => key })
  .map((entries) =>
    objectOf(
      entries.map(([key, marked, wrapped]): [string, Made] => [key, wrapped ? dynamic(marked) : marked]),
      false,
    ),
  );

const stateOf = (marked: Made, output: Made): State => ({
  resources: [
    {
      mode: 'managed',
      type: 'terraform_data',
      name: 'a',
      instances: [{ attributes: marked.value as Record<string, unknown>, sensitive_attributes: marked.paths }],
    },
  ],
  outputs: { out: { value: output.value, sensitive: output.paths.length > 0 } },
});

const shownOf = (before: State | undefined, after: State): string => {
  const { resources, outputs } = stateDifferences(before, after);
  return JSON.stringify([...resources, ...outputs].map((difference) => [difference.address, rowsOf(difference)]));
};

const many = { numRuns: 3_000 };

describe('a sensitive value', () => {
  it('in a state is not shown in any comparison', () => {
    fc.assert(
      fc.property(attributes, attributes, tree, (one, other, output) => {
        const [before, after] = [stateOf(one, output), stateOf(other, output)];
        for (const shown of [shownOf(undefined, before), shownOf(before, after), shownOf(after, before)]) {
          expect(shown).not.toContain('SECRET');
        }
      }),
      many,
    );
  });

  it('is not shown where a provider repeats it unmarked', () => {
    fc.assert(
      fc.property(tree, (marked) => {
        const input = dynamic(marked);
        const output = { ...input, paths: [], marks: false };
        const both = objectOf(
          [
            ['input', input],
            ['output', output],
          ],
          false,
        );
        const change = { actions: ['create'], after: { input: marked.value, output: marked.value } };
        const marks = { after_sensitive: { input: marked.marks } };
        const plan = { format_version: '1.2', output_changes: { a: { ...change, ...marks } } };
        expect(shownOf(undefined, stateOf(both, open0))).not.toContain('SECRET');
        const { output_changes } = redactPlan(plan, { format_version: '1.0' } as never);
        expect(JSON.stringify(output_changes)).not.toContain('SECRET');
      }),
      many,
    );
  });

  it('in a plan is neither returned nor shown, however it changes', () => {
    fc.assert(
      fc.property(tree, tree, tree, (before, after, unknown) => {
        const change: Change = {
          actions: ['update'],
          before: before.value,
          after: after.value,
          before_sensitive: before.marks,
          after_sensitive: after.marks,
          after_unknown: unknown.marks,
        };
        expect(JSON.stringify(rowsOf({ change }))).not.toContain('SECRET');
        const plan = { format_version: '1.2', output_changes: { a: { ...change } } };
        const redacted = redactPlan(plan, { format_version: '1.0' } as never);
        expect(JSON.stringify(redacted)).not.toContain('SECRET');
      }),
      many,
    );
  });
});

const open0: Made = { value: 'plain', type: 'string', paths: [], marks: false };

it('a dynamically typed value is shown without its stored type', () => {
  const state = (value: unknown, type: unknown): State => ({
    resources: [
      { mode: 'managed', type: 'terraform_data', name: 'a', instances: [{ attributes: { input: { value, type } } }] },
    ],
  });
  const paths = (of: State) =>
    stateDifferences(undefined, of)
      .resources.flatMap(rowsOf)
      .map(({ path }) => path);
  expect(paths(state('x', 'string'))).toEqual(['input']);
  expect(paths(state({ a: 1, b: ['x'] }, ['object', { a: 'number', b: ['list', 'string'] }]))).toEqual([
    'input.a',
    'input.b[0]',
  ]);
  // An object with these attributes is not a wrapper.
  expect(paths(state('10.0.0.1', 'A'))).toEqual(['input.type', 'input.value']);
  expect(paths(state({ value: 'x', type: 'string' }, ['object', { value: 'string', type: 'string' }]))).toEqual([
    'input.type',
    'input.value',
  ]);
});
