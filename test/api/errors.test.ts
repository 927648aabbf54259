import { expect, it, vi } from 'vitest';
import { startApi } from '#test/support/api.ts';

/** Errors for invalid requests. */

const api = await startApi();

const path = 'organizations/acme/workspaces';

it.each([
  ['1 MB of garbage', '\u0001{"x'.repeat(200_000)],
  ['1 MB of open brackets', '['.repeat(1_000_000)],
  ['half a document', '{"data":{"attributes":{"name":"x"'],
  ['a form', 'name=x&type=workspaces'],
])('the API rejects %s instead of JSON with 400', async (_, body) => {
  for (const base64 of [false, true]) {
    const answer = await api.call('POST', path, { body, base64 });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([
      { status: '400', title: 'bad request', detail: 'The body is not valid JSON.' },
    ]);
  }
});

it.each(['{"data":{"attributes":{"name":"\\ud800"}}}', '{"data":{"attributes":{"\\udfff":1}}}'])(
  'the API rejects a lone surrogate with 422: %s',
  async (body) => {
    const answer = await api.call('POST', path, { body });
    expect([answer.status, answer.body.errors[0].detail]).toEqual([422, expect.stringMatching(/surrogate/)]);
    expect(answer.body.errors[0].source.pointer).toMatch(/^\/data\/attributes/);
  },
);

it('a body that is not UTF-8 is rejected with 400', async () => {
  const { handler } = await import('#public-api/workspaces.ts');
  const { eventOf } = await import('#test/support/api.ts');
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
  ['data that is a list', '{"data":[]}', '/data'],
  ['attributes that are a list', '{"data":{"attributes":[{"name":"x"}]}}', '/data/attributes'],
  ['a misplaced attribute', '{"data":{"attributes":{"name":"x"},"auto-apply":true}}', '/data/auto-apply'],
  ['a member beside data', '{"data":{"attributes":{"name":"x"}},"auto-apply":true}', '/auto-apply'],
  [
    'an unknown field of an entry',
    '{"data":{"attributes":{"name":"x"},"relationships":{"tag-bindings":{"data":[{"attributes":{"key":"a","valu":"b"}}]}}}}',
    '/data/relationships/tag-bindings/data/0/attributes/valu',
  ],
  ['attributes that are text', '{"data":{"attributes":"x"}}', '/data/attributes'],
  ['no name', '{"data":{"attributes":{}}}', '/data/attributes/name'],
])('the API rejects %s with 422 and a pointer', async (_, body, pointer) => {
  const answer = await api.call('POST', path, { body });
  expect(answer.status).toBe(422);
  expect(answer.body.errors[0].source.pointer).toBe(pointer);
});

it('a misspelled field of an action is rejected with 422 and a pointer', async () => {
  const { id } = await api.workspace();
  const answer = await api.call('POST', `workspaces/${id}/actions/lock`, { body: { raeson: 'x' } });
  expect([answer.status, answer.body.errors.length, answer.body.errors[0]?.source.pointer]).toEqual([
    422,
    1,
    '/raeson',
  ]);
});

it('a JSON body is accepted with any JSON or generic content type', async () => {
  const types = [undefined, 'application/vnd.api+json', 'application/json', 'application/x-www-form-urlencoded'];
  for (const [n, type] of types.entries()) {
    const headers: Record<string, string> = type ? { 'content-type': type } : {};
    const body = { data: { type: 'workspaces', attributes: { name: `typed-${n}` } } };
    expect((await api.call('POST', path, { body, headers, base64: n === 3 })).status).toBe(201);
  }
});

it('an error names every wrong field and its rule without repeating the value', async () => {
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
    '/data/attributes/working-directory': 'working-directory: must be a path inside the configuration, without ".."',
    '/data/attributes/terraform-version':
      'terraform-version: must be a version such as "1.11.4", a constraint such as "~> 1.11.0", or "latest"',
    '/data/attributes/trigger-prefixes': 'trigger-prefixes: must be a list',
  });
  expect(errors.every(({ status }) => status === '422')).toBe(true);
});

it.each(['a/b', 'ünïcode', '🦄', ' ', '', 'a b', 'x'.repeat(91), 'a\u0000b', '..'])(
  'the API rejects the workspace name %j',
  async (name) => {
    const answer = await api.post(path, { name });
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].detail).toMatch(/A-Z, a-z, 0-9/);
  },
);

it.each(['ab', 'x'.repeat(41), 'a/b', 'é-organization'])('the API rejects the organization name %j', async (name) => {
  const answer = await api.post('organizations', { name, email: 'a@b.test' });
  expect(answer.status).toBe(422);
  expect(answer.body.errors[0].detail).toMatch(/3 to 40 characters/);
});

it('the router decodes percent-encoded names in the path', async () => {
  await api.post(path, { name: 'encoded-name_1' });
  expect((await api.get('organizations/acme/workspaces/encoded%2Dname%5F1')).status).toBe(200);
});

it('a document whose type is empty or missing is accepted', async () => {
  const attributes = { name: 'without-a-type', 'no-such': null, __proto__: { x: 1 } };
  expect((await api.call('POST', path, { body: { data: { type: '', attributes } } })).status).toBe(201);
});

it.each(['0', '-1', 'x', '1.5', '99999999999'])('the API rejects page number %j with 400', async (number) => {
  const answer = await api.get(`${path}?page[number]=${number}`);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].source).toEqual({ parameter: 'page[number]' });
});

it('an unknown include is rejected with the message that clients match', async () => {
  const answer = await api.get('organizations/acme?include=secrets');
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].detail).toMatch(/Invalid include parameter/);
});

it('an internal error is answered with a neutral 500, and its cause is logged', async () => {
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

it('a full disk of a platform on one machine is answered with 507', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const workspace = await api.workspace();
  api.aws.gate = () =>
    Promise.reject(Object.assign(new Error('full'), { name: 'InsufficientStorage', statusCode: 507 }));
  const answer = await api.get(`workspaces/${workspace.id}`);
  api.aws.gate = undefined;
  expect(answer.status).toBe(507);
  expect(answer.body.errors[0].detail).toMatch(/disk of this platform is full/);
  log.mockRestore();
});
