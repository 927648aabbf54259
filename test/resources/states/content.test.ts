import { expect, it } from 'vitest';
import { InvalidStateError, parseState } from '#resources/states/content.ts';
import { placeOf } from '#resources/states/members.ts';

const stateWith = (more: object): Buffer =>
  Buffer.from(JSON.stringify({ version: 4, serial: 1, lineage: 'l', ...more }));

it.each<[string, object]>([
  ['outputs that are a list', { outputs: [null] }],
  ['an output of null', { outputs: { a: null } }],
  ['resources that are an object', { resources: {} }],
  ['resources that are text', { resources: 'x' }],
  ['a resource of null', { resources: [null] }],
  ['instances that are text', { resources: [{ mode: 'managed', instances: 'abc' }] }],
  ['an instance of null', { resources: [{ mode: 'managed', instances: [null] }] }],
  ['a serial that is no whole number', { serial: 1.5 }],
  ['a negative serial', { serial: -1 }],
  ['a serial that is text', { serial: '1' }],
  ['a lineage that is a number', { lineage: 5 }],
  ['format version 3', { version: 3 }],
  ['a module that is a number', { resources: [{ module: 5, instances: [] }] }],
])('the parser rejects %s as an invalid state', (_, more) => {
  expect(() => parseState(stateWith(more))).toThrow(InvalidStateError);
});

it('the parser rejects bytes that are not UTF-8', () => {
  const text = stateWith({ lineage: 'ÿ' });
  expect(() => parseState(Buffer.from(text.toString(), 'latin1'))).toThrow('not valid JSON');
});

it('the parser rejects attributes that are nested too deep as an invalid state', () => {
  const text = stateWith({ resources: [{ mode: 'managed', instances: [{ attributes: 'DEEP' }] }] }).toString();
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(() => parseState(Buffer.from(text.replace('"DEEP"', deep)))).toThrow(InvalidStateError);
});

it('the parser accepts outputs of two hundred levels with nulls', () => {
  const nested = (levels: number) => Array.from({ length: levels }).reduce<unknown>((inner) => [null, inner], null);
  const withOutput = (value: unknown) => parseState(stateWith({ outputs: { a: { value, type: 'dynamic' } } }));
  expect(withOutput(nested(200)).outputs).toHaveLength(1);
  expect(() => withOutput(nested(201))).toThrow(InvalidStateError);
});

it.each([
  ['{"a":1,"b":[1,{"a":2}],"c":{"a":3}}', 'a', '1'],
  ['{"b":[1,{"a":2}],"c":3}', 'c', '3'],
  ['{"c":{"b":2}}', 'c', '{"b":2}'],
  ['{"a":1,"a":2}', 'a', '2'],
  ['{"a": "x, }" ,"b":1}', 'a', ' "x, }" '],
  ['{"x\\"a":1,"a":"q\\\\","b":2}', 'a', '"q\\\\"'],
  ['{"x":"q\\"","a":1}', 'a', '1'],
  ['{"\\u0061":1}', 'a', '1'],
  ['{"b":"a","c":["a"]}', 'a', undefined],
  ['{"b":{"a":1}}', 'a', undefined],
])('the place of a member is found by its name: %s, %s, %s', (json, name, expected) => {
  const place = placeOf(Buffer.from(json), name);
  expect(place && json.slice(place.from, place.to)).toBe(expected);
});

it('an instance is named by its module and its number or key', () => {
  const instancesOf = (...instances: object[]) => ({
    mode: 'managed',
    type: 't',
    name: 'n',
    provider: 'provider["registry.terraform.io/hashicorp/null"]',
    instances,
  });
  const { instances } = parseState(
    stateWith({
      resources: [
        instancesOf({ attributes: {} }),
        instancesOf({ index_key: 0, attributes: {} }, { index_key: 'a"b', attributes: {}, dependencies: ['t.x', 5] }),
        { ...instancesOf({ index_key: 'k', attributes: {} }), module: 'module.inner' },
        instancesOf({ index_key: { a: 1 }, attributes: {} }),
        { ...instancesOf({ attributes: {} }), mode: 'data' },
      ],
    }),
  );
  expect(instances?.map(({ address, index, dependencies }) => [address, index, dependencies])).toEqual([
    ['t.n', undefined, undefined],
    ['t.n[0]', 0, undefined],
    ['t.n["a\\"b"]', 'a"b', ['t.x']],
    ['module.inner.t.n["k"]', 'k', undefined],
    ['t.n', undefined, undefined],
  ]);
});

it('the parser accepts a state without resources and outputs', () => {
  expect(parseState(stateWith({ serial: 0, resources: null, outputs: null }))).toMatchObject({
    ...{ serial: 0, managed: 0, outputs: [], terraformVersion: null },
  });
  const [resource] = parseState(stateWith({ resources: [{ type: 'a', name: 'b', provider: 'former' }] })).resources;
  expect(resource).toEqual({ type: 'a', name: 'b', count: 0, module: 'root', provider: 'former' });
});

it.each([
  ['bool', 'boolean'],
  [['list', 'string'], 'array'],
  [['set', 'string'], 'array'],
  [['tuple', []], 'array'],
  [['map', 'string'], 'object'],
  [['object', {}], 'object'],
  ['number', 'number'],
  [undefined, 'string'],
])('an output of type %j is shown as %s', (type, shown) => {
  expect(parseState(stateWith({ outputs: { a: { value: null, type } } })).outputs[0]?.type).toBe(shown);
});

it('the parser keeps every digit of an output', () => {
  const text = stateWith({ outputs: { a: { value: 'LONG', type: 'number' } } }).toString();
  const { outputs } = parseState(Buffer.from(text.replace('"LONG"', '9007199254740993')));
  expect(JSON.stringify(outputs[0]?.value)).toBe('9007199254740993');
});
