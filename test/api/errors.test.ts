import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Api, startApi } from '../support/api.ts';

/** What a caller hears of a request that cannot be. */

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const path = 'organizations/acme/workspaces';

it.each([
  ['1 MB of garbage', '\u0001{"x'.repeat(200_000)],
  ['1 MB of open brackets', '['.repeat(1_000_000)],
  ['half a document', '{"data":{"attributes":{"name":"x"'],
  ['a form', 'name=x&type=workspaces'],
])('answers 400 for %s in place of JSON', async (_, body) => {
  for (const base64 of [false, true]) {
    const answer = await api.call('POST', path, { body, base64 });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([{ status: '400', title: 'bad request', detail: 'The body is not JSON.' }]);
  }
});

it.each(['{"data":{"attributes":{"name":"\\ud800"}}}', '{"data":{"attributes":{"\\udfff":1}}}'])(
  'answers 422 for half of a character: %s',
  async (body) => {
    const answer = await api.call('POST', path, { body });
    expect([answer.status, answer.body.errors[0].detail]).toEqual([422, expect.stringMatching(/surrogate/)]);
    expect(answer.body.errors[0].source.pointer).toMatch(/^\/data\/attributes/);
  },
);

it('answers 400 for bytes that are not text', async () => {
  const { handler } = await import('../../functions/public-api/settings.ts');
  const { eventOf } = await import('../support/api.ts');
  const event = eventOf('POST', `/api/v2/${path}`, { token: api.token });
  const sent = { ...event, body: Buffer.from([0xff, 0xfe, 0x00]).toString('base64'), isBase64Encoded: true };
  const answer = (await handler(sent, {} as never)) as { statusCode: number; body: string };
  expect(answer.statusCode).toBe(400);
  expect(JSON.parse(answer.body).errors[0].detail).toMatch(/UTF-8/);
});

it.each([
  ['nothing', undefined, '/data'],
  ['null', 'null', '/data'],
  ['a number', '17', '/'],
  ['a list', '[]', '/data'],
  ['a document without data', '{}', '/data'],
  ['data that is a list', '{"data":[]}', '/data/attributes/name'],
  ['attributes that are text', '{"data":{"attributes":"x"}}', '/data/attributes'],
  ['no name', '{"data":{"attributes":{}}}', '/data/attributes/name'],
])('answers 422 that points at the place for %s', async (_, body, pointer) => {
  const answer = await api.call('POST', path, { body });
  expect(answer.status).toBe(422);
  expect(answer.body.errors[0].source.pointer).toBe(pointer);
});

it('reads a body whatever its content type says', async () => {
  const types = [undefined, 'application/vnd.api+json', 'application/json', 'application/x-www-form-urlencoded'];
  for (const [n, type] of types.entries()) {
    const headers: Record<string, string> = type ? { 'content-type': type } : {};
    const body = { data: { type: 'workspaces', attributes: { name: `typed-${n}` } } };
    expect((await api.call('POST', path, { body, headers, base64: n === 3 })).status).toBe(201);
  }
});

it('points at every field that is wrong, with what would be right, and repeats no value', async () => {
  const answer = await api.post(path, {
    name: 'a/b',
    'auto-apply': 'yes',
    'execution-mode': 'orbital',
    'working-directory': '../secret',
    'terraform-version': 'newest',
    'trigger-prefixes': 'all',
  });
  expect(answer.status).toBe(422);
  const errors = answer.body.errors as { status: string; detail: string; source: { pointer: string } }[];
  expect(Object.fromEntries(errors.map(({ source, detail }) => [source.pointer, detail]))).toEqual({
    '/data/attributes/name': 'name: a workspace name has 1 to 90 characters of A-Z, a-z, 0-9, "-" and "_"',
    '/data/attributes/auto-apply': 'auto-apply: must be true or false',
    '/data/attributes/execution-mode': 'execution-mode: must be one of "remote", "local", "agent"',
    '/data/attributes/working-directory': 'working-directory: must be a path inside of the configuration, without ".."',
    '/data/attributes/terraform-version':
      'terraform-version: must be a version such as "1.11.4", a constraint such as "~> 1.11.0", or "latest"',
    '/data/attributes/trigger-prefixes': 'trigger-prefixes: must be a list',
  });
  expect(errors.every(({ status }) => status === '422')).toBe(true);
});

it.each(['a/b', 'ünïcode', '🦄', ' ', '', 'a b', 'x'.repeat(91), 'a\u0000b', '..'])(
  'does not take %j for the name of a workspace',
  async (name) => {
    const answer = await api.post(path, { name });
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].detail).toMatch(/A-Z, a-z, 0-9/);
  },
);

it.each(['ab', 'x'.repeat(41), 'a/b', 'é-organization'])('does not take %j for an organization', async (name) => {
  const answer = await api.post('organizations', { name, email: 'a@b.test' });
  expect(answer.status).toBe(422);
  expect(answer.body.errors[0].detail).toMatch(/3 to 40 characters/);
});

it('finds names that are percent-encoded in a path', async () => {
  await api.post(path, { name: 'encoded-name_1' });
  expect((await api.get('organizations/acme/workspaces/encoded%2Dname%5F1')).status).toBe(200);
});

it('takes a type that is empty or missing', async () => {
  const attributes = { name: 'without-a-type', 'no-such': null, __proto__: { x: 1 } };
  expect((await api.call('POST', path, { body: { data: { type: '', attributes } } })).status).toBe(201);
});

it.each(['0', '-1', 'x', '1.5', '99999999999'])('answers 400 for page number %j', async (number) => {
  const answer = await api.get(`${path}?page[number]=${number}`);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].source).toEqual({ parameter: 'page[number]' });
});

it('answers 400 for an include it does not know, in the words that clients look for', async () => {
  const answer = await api.get('organizations/acme?include=secrets');
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].detail).toMatch(/Invalid include parameter/);
});

it('answers 500 without telling why, and logs it', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const workspace = await api.workspace();
  api.aws.failCall(1, 'before');
  const answer = await api.get(`workspaces/${workspace.id}`);
  expect(answer.status).toBe(500);
  expect(answer.body.errors).toEqual([{ status: '500', title: 'internal error', detail: expect.any(String) }]);
  expect(JSON.stringify(answer.body)).not.toMatch(/socket|127\.0\.0\.1|dynamo/i);
  expect(String(log.mock.calls[0]?.[0])).toContain(`/api/v2/workspaces/${workspace.id}`);
  log.mockRestore();
});
