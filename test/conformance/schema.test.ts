import { expect, it } from 'vitest';
import { differences, type Schema, type Schemas } from './schema.ts';

const schemas: Schemas = {
  things: {
    type: 'object',
    required: ['id', 'type'],
    properties: {
      id: { type: 'string' },
      type: { type: 'string', enum: ['things'] },
      attributes: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          'created-at': { type: 'string', format: 'date-time' },
          note: { type: 'string', nullable: true },
          secret: { type: 'string', writeOnly: true },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
      parent: { $ref: '#/components/schemas/parent' },
    },
  },
  parent: {
    type: 'object',
    properties: { data: { type: 'object', allOf: [{ $ref: '#/components/schemas/identifier' }], nullable: true } },
  },
  identifier: { type: 'object', properties: { id: { type: 'string' }, type: { type: 'string', enum: ['things'] } } },
};
const list: Schema = { type: 'array', items: { $ref: '#/components/schemas/things' } };

const problemsOf = (value: unknown, schema: Schema = list) => {
  const all: string[] = [];
  differences(value, schema, schemas, 'answer', (place, problem) => all.push(`${place}: ${problem}`));
  return all;
};
const thing = (attributes: object, more: object = {}) => [{ id: 't-1', type: 'things', attributes, ...more }];

it('a matching value has no problems', () => {
  expect(
    problemsOf(thing({ size: 1, 'created-at': '2026-01-01T00:00:00.000Z', note: null, labels: { a: 'b' } })),
  ).toEqual([]);
  expect(problemsOf(thing({}, { parent: { data: null } }))).toEqual([]);
  expect(problemsOf(thing({}, { parent: { data: { id: 't-2', type: 'things' } } }))).toEqual([]);
});

it.each([
  ['another kind', thing({ size: '1' }), 'things.attributes.size: is string, not integer'],
  ['a fraction', thing({ size: 1.5 }), 'things.attributes.size: is number, not integer'],
  ['null', thing({ size: null }), 'things.attributes.size: is null'],
  ['a malformed time', thing({ 'created-at': 'yesterday' }), 'things.attributes.created-at: is no time'],
  ['a value outside the enum', [{ id: '', type: 'other' }], 'things.type: is "other", which is not listed'],
  ['a missing property', [{ type: 'things' }], 'things.id: is missing'],
  ['an undescribed property', thing({ colour: 'red' }), 'things.attributes.colour: is not described'],
  ['a secret', thing({ secret: 'x' }), 'things.attributes.secret: is for writing only'],
  ['a value among free names', thing({ labels: { a: 1 } }), 'things.attributes.labels.*: is integer, not string'],
  [
    'a part of another schema',
    thing({}, { parent: { data: { id: 't-2', type: 'other' } } }),
    'parent.data.type: is "other", which is not listed',
  ],
  ['no list', {}, 'answer: is object, not array'],
])('the comparison finds %s', (_, value, difference) => {
  expect(problemsOf(value)).toEqual([difference]);
});
