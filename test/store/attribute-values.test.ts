import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromValues, toValues } from '../../functions/store/attribute-values.ts';

/** Direct calls and the SDK write the same items. */

const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map((n) => Number(n.toPrecision(12))),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }).map((all) => new Set(all)),
  fc.uint8Array({ maxLength: 40 }),
);
/** Which the SDK takes for another class. */
const name = fc.string({ minLength: 1 }).filter((text) => !['__proto__', 'constructor'].includes(text));
const value = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value')), fc.dictionary(name, tie('value'))),
})).value;
const items = fc.dictionary(name, value);

/** As JSON has bytes. */
const asSent = (values: unknown): unknown =>
  JSON.parse(
    JSON.stringify(values, (_, one) => (one instanceof Uint8Array ? Buffer.from(one).toString('base64') : one)),
  );

it('writes what the SDK writes', () => {
  fc.assert(
    fc.property(items, (item) => {
      expect(asSent(toValues(item))).toEqual(asSent(marshall(item, { removeUndefinedValues: true })));
    }),
  );
});

it.each([
  ['no number', Number.NaN],
  ['a number that is not exact', 2 ** 60],
  ['an empty set', new Set()],
  ['a set of numbers', new Set([1])],
  ['an object of a class', new Date()],
  ['a function', () => {}],
  ['a prototype', JSON.parse('{"__proto__": {"a": 1}}')],
])('refuses %s', (_, one) => {
  expect(() => toValues({ one })).toThrow(TypeError);
});

it('reads what the SDK reads', () => {
  fc.assert(
    fc.property(items, (item) => {
      expect(fromValues(toValues(item))).toEqual(unmarshall(marshall(item, { removeUndefinedValues: true })));
    }),
  );
});
