import * as v from 'valibot';
import { expect, it } from 'vitest';
import { isZeroValue, unknownMembers } from '#api/unknown-members.ts';

const entry = v.object({ type: v.literal('tags'), attributes: v.object({ key: v.string() }) });
const schema = v.object({
  comment: v.nullish(v.string()),
  data: v.pipe(v.array(entry), v.maxLength(3)),
  settings: v.optional(v.nullable(v.object({ enabled: v.boolean() }))),
});

const pointers = (body: unknown): string[] => unknownMembers(schema, body).map(({ source }) => source.pointer);
const withEntry = (value: unknown) => ({ data: [value] });
const valid = { type: 'tags', attributes: { key: 'a' } };

it('the search finds members that a schema does not have, at any depth', () => {
  expect(pointers({ data: [valid], coment: 'x' })).toEqual(['/coment']);
  expect(pointers(withEntry({ ...valid, kee: 'b' }))).toEqual(['/data/0/kee']);
  expect(pointers(withEntry({ ...valid, attributes: { key: 'a', valu: 'b' } }))).toEqual(['/data/0/attributes/valu']);
  expect(pointers({ data: [], settings: { enabled: true, 'a/b': 1 } })).toEqual(['/settings/a~1b']);
  expect(pointers(JSON.parse('{"data":[],"__proto__":{"a":1}}'))).toEqual(['/__proto__']);
});

it('the search finds lists in place of objects', () => {
  expect(pointers([])).toEqual(['/']);
  expect(pointers(withEntry([valid]))).toEqual(['/data/0']);
  expect(pointers({ data: [], settings: [] })).toEqual(['/settings']);
});

it('the search accepts members of JSON:API in all objects, and null', () => {
  expect(pointers({ data: [{ ...valid, id: 'x', links: {}, relationships: {} }], meta: {}, included: [] })).toEqual([]);
  expect(pointers({ data: [valid], reason: null, settings: null })).toEqual([]);
});

it('the search accepts zero values of Go when enabled, and no others', () => {
  const unset = { a: '', b: 0, c: false, d: null, e: [], f: {}, g: '0001-01-01T00:00:00Z' };
  const body = { data: [valid], ...unset, id: '00000000-0000-0000-0000-000000000000' };
  expect(unknownMembers(schema, body, isZeroValue)).toEqual([]);
  const set = unknownMembers(schema, { data: [valid], a: 'x', b: 1, c: true, e: [0], f: { a: 1 } }, isZeroValue);
  expect(set.map(({ source }) => source.pointer)).toEqual(['/a', '/b', '/c', '/e', '/f']);
});
