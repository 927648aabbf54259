import { expect, it } from 'vitest';
import { InvalidStateError, parseState } from '#resources/states/content.ts';

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
  ['a module that is a number', { resources: [{ module: 5, instances: [] }] }],
])('refuses %s as an invalid state', (_, more) => {
  expect(() => parseState(stateWith(more))).toThrow(InvalidStateError);
});

it('refuses attributes that are nested without end as an invalid state', () => {
  const text = stateWith({ resources: [{ mode: 'managed', instances: [{ attributes: 'DEEP' }] }] }).toString();
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(() => parseState(Buffer.from(text.replace('"DEEP"', deep)))).toThrow(InvalidStateError);
});

it('accepts a state without resources and outputs', () => {
  expect(parseState(stateWith({ resources: null, outputs: null }))).toMatchObject({ managed: 0, outputs: [] });
});
