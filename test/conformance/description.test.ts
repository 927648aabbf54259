import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Description } from './description.ts';

const content = (schema: object) => ({ content: { 'application/vnd.api+json': { schema } } });
const resource = (name: string) => ({
  type: 'object',
  required: ['id', 'type'],
  properties: { id: { type: 'string' }, type: { type: 'string', enum: [name] } },
});
const document = {
  paths: {
    '/things/{id}': {
      get: {
        responses: { 200: content({ type: 'object', properties: { data: { $ref: '#/components/schemas/things' } } }) },
      },
      delete: { responses: { 204: { description: 'gone' } } },
    },
    '/things/{id}/text': { get: { responses: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } } } } },
    '/things/new': { get: { responses: { 204: {} } } },
  },
  components: {
    schemas: {
      things: resource('things'),
      errors: { type: 'object', required: ['errors'], properties: { errors: { type: 'array' } } },
    },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'description-'));
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
const description: Description = new Description(join(folder, 'openapi.json'));
afterAll(() => rmSync(folder, { recursive: true }));

const thing = { id: 'thing-1', type: 'things' };
const answer = (fields: { method?: string; url?: string; status?: number; contentType?: string; body?: object }) => ({
  method: 'GET',
  url: '/api/v2/things/1',
  status: 200,
  contentType: 'application/vnd.api+json',
  ...fields,
  body: fields.body && JSON.stringify(fields.body),
});
const differencesOf = (fields: Parameters<typeof answer>[0]) => [
  ...description.check([answer(fields)]).differences.keys(),
];

it('the coverage counts operations that no route serves', () => {
  const routes = [
    { method: 'GET', path: '/api/v2/things/{thing}' },
    { method: 'GET', path: '/api/v2/things/new' },
    { method: 'POST', path: '/api/v2/things/{thing}/text' },
  ];
  expect(description.coverage(routes)).toEqual({
    operations: 4,
    notServed: ['DELETE /things/{id}', 'GET /things/{id}/text'],
  });
});

it('matching responses have no differences', () => {
  const all = [
    answer({ url: '/api/v2/things/1?include=parts', body: { data: thing, included: [thing] } }),
    answer({ method: 'DELETE', status: 204 }),
    answer({ url: '/api/v2/things/new', status: 204 }),
    answer({ url: '/api/v2/things/1/text', contentType: 'text/plain', body: {} }),
    answer({ url: '/api/v2/nowhere', status: 404, body: { errors: [] } }),
    answer({ url: '/app/page', body: {} }),
  ];
  const { differences, checked, operations } = description.check(all);
  expect([...differences]).toEqual([]);
  expect(checked).toBe(4);
  expect([...operations].sort()).toEqual([
    'DELETE /things/{id}',
    'GET /things/new',
    'GET /things/{id}',
    'GET /things/{id}/text',
  ]);
});

it.each([
  ['a status', { status: 201, body: { data: thing } }, 'GET /things/{id}: answers 201, which is not described'],
  ['a body that is missing', {}, 'GET /things/{id}: has no body with 200'],
  ['a body too many', { method: 'DELETE', status: 204, body: {} }, 'DELETE /things/{id}: has a body with 204'],
  [
    'another content type',
    { contentType: 'application/json', body: { data: thing } },
    'GET /things/{id}: has content type application/json',
  ],
  ['a mismatching body', { body: { data: { type: 'things' } } }, 'things.id: is missing'],
  [
    'an undescribed property of an include',
    { body: { data: thing, included: [{ id: '1', type: 'things', size: 1 }] } },
    'things.size: is not described',
  ],
  [
    'an undescribed include',
    { body: { data: thing, included: [{ id: '1', type: 'parts' }] } },
    'included parts: is not described',
  ],
  [
    'a path',
    { url: '/api/v2/things/thing-AbCdEfGhIjKlMnOp/parts', body: {} },
    'GET /things/{}/parts: is not described',
  ],
  ['a method', { method: 'PUT', body: {} }, 'PUT /things/1: is not described'],
  ['an error without a body', { status: 500 }, 'GET /things/{id}: has no body with 500'],
  ['an error in another format', { status: 500, body: { errors: 'oh' } }, 'errors.errors: is string, not array'],
])('the comparison finds %s', (_, answered, difference) => {
  expect(differencesOf(answered)).toEqual([difference]);
});
