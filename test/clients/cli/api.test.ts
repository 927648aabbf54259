import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Command, parse } from '#clients/cli/arguments.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { exit } from '#clients/cli/exit.ts';
import { failureOf } from '#clients/cli/failures.ts';
import { Session } from '#clients/cli/session.ts';
import { serve } from '#test/support/serve.ts';

/** `stepform api` against a server that records requests. */

interface Received {
  request: string;
  token: string | undefined;
  body: unknown;
}

let received: Received[];
let answers: Record<string, { status?: number; type?: string; body: unknown }>;
const workspace = { id: 'ws-1', type: 'workspaces', attributes: { name: 'net work' } };

const server = await serve(async (request, response) => {
  const [path = ''] = (request.url ?? '').split('?');
  const body = await text(request);
  const { authorization } = request.headers;
  received.push({
    request: `${request.method} ${request.url}`,
    token: authorization,
    body: body ? JSON.parse(body) : '',
  });
  const page = new URLSearchParams(request.url?.split('?')[1]).get('page[number]');
  const {
    status = 200,
    type = 'application/vnd.api+json',
    body: answer,
  } = answers[page ? `${path} ${page}` : path] ?? {
    body: { data: { id: 'x', type: 'things' } },
  };
  response
    .writeHead(status, { 'content-type': type })
    .end(typeof answer === 'string' ? answer : JSON.stringify(answer));
});

const folder = mkdtempSync(join(tmpdir(), 'stepform-api-'));
afterAll(() => rmSync(folder, { recursive: true }));

let printed: string;
beforeEach(() => {
  received = [];
  answers = { '/api/v2/organizations/acme/workspaces/net%20work': { body: { data: workspace } } };
  printed = '';
  vi.stubEnv('TFE_ADDRESS', server.url);
  vi.stubEnv('TFE_TOKEN', 'the-token');
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    printed += chunk;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const api = async (...words: string[]): Promise<Received | undefined> => {
  const { command } = findCommand(['api']) as { command: Command };
  const call = parse(command, words);
  await command.run(call, new Session(call));
  return received.at(-1);
};

it('sends the stored token and prints the document', async () => {
  const sent = await api('get', 'api/v2/account/details');
  expect(sent).toEqual({ request: 'GET /api/v2/account/details', token: 'Bearer the-token', body: '' });
  expect(JSON.parse(printed)).toEqual({ data: { id: 'x', type: 'things' } });
});

it('fields are attributes, -f as text and -F with their types', async () => {
  writeFileSync(join(folder, 'key'), 'line\n');
  const fields = [
    '-f',
    'name=3',
    '-F',
    'count=3',
    '-F',
    'on=true',
    '-F',
    'none=null',
    '-F',
    `key=@${join(folder, 'key')}`,
  ];
  const sent = await api(
    'POST',
    '/things',
    ...fields,
    '-F',
    'tag-names[]=a',
    '-F',
    'tag-names[]=1',
    '-f',
    'deep[x]=y=z',
  );
  expect(sent?.body).toEqual({
    data: {
      attributes: {
        name: '3',
        count: 3,
        on: true,
        none: null,
        key: 'line\n',
        'tag-names': ['a', 1],
        deep: { x: 'y=z' },
      },
    },
  });
});

it('fields with brackets begin at the root, and those of an action are its body', async () => {
  const sent = await api(
    'PATCH',
    '/things/x',
    '-f',
    'data[relationships][project][data][id]=prj-1',
    '-f',
    '__proto__=a',
  );
  expect(JSON.stringify(sent?.body)).toBe(
    '{"data":{"relationships":{"project":{"data":{"id":"prj-1"}}},"attributes":{"__proto__":"a"}}}',
  );
  expect((await api('POST', '/runs/run-1/actions/apply', '-f', 'comment=ok'))?.body).toEqual({ comment: 'ok' });
});

it('fields of GET are parameters', async () => {
  const sent = await api('GET', '/things?a=b', '-f', 'filter[status]=a&b');
  expect(sent?.request).toBe('GET /api/v2/things?a=b&filter%5Bstatus%5D=a%26b');
});

it('placeholders are the organization, and the workspace by its ID or name', async () => {
  const of = ['-o', 'acme', '-w', 'net work'];
  expect((await api('GET', '/workspaces/{workspace}/runs', ...of))?.request).toBe('GET /api/v2/workspaces/ws-1/runs');
  const named = '/organizations/{organization}/workspaces/{workspace}';
  expect((await api('DELETE', named, ...of))?.request).toBe('DELETE /api/v2/organizations/acme/workspaces/net%20work');
});

it('the body of a file is sent unchanged', async () => {
  writeFileSync(join(folder, 'body.json'), '{"data":{"type":"things"}}');
  expect((await api('POST', '/things', '--input', join(folder, 'body.json')))?.body).toEqual({
    data: { type: 'things' },
  });
});

it('all pages are one document, or one line for each resource', async () => {
  const page = (id: string, next: number | null) => ({
    body: { data: [{ id }], included: [], meta: { pagination: { 'next-page': next } } },
  });
  answers = { '/api/v2/things 1': page('a', 2), '/api/v2/things 2': page('b', null) };
  await api('GET', '/things', '--paginate', '--lines');
  expect(printed).toBe('{"id":"a"}\n{"id":"b"}\n');
  printed = '';
  await api('GET', '/things', '--paginate', '-f', 'q=x');
  expect(JSON.parse(printed)).toEqual({ data: [{ id: 'a' }, { id: 'b' }] });
  expect(received.at(-1)?.request).toBe('GET /api/v2/things?q=x&page[size]=100&page[number]=2');
});

it('content that is not JSON is printed unchanged', async () => {
  answers['/api/v2/plans/plan-1/logs'] = { type: 'text/plain', body: 'Plan: 1 to add\n' };
  await api('GET', '/plans/plan-1/logs');
  expect(printed).toBe('Plan: 1 to add\n');
});

it.each([
  [404, exit.notFound],
  [403, exit.notAllowed],
  [422, exit.notNow],
  [500, exit.failed],
])('a response with %i has exit code %i and its error', async (status, code) => {
  answers['/api/v2/things/x'] = { status, body: { errors: [{ status: String(status), title: 'why' }] } };
  const error = await api('PATCH', '/things/x', '-f', 'a=b').catch((error: unknown) => error);
  expect(failureOf(error)).toMatchObject({ code, errors: [{ title: 'why' }] });
  expect(printed).toBe('');
});

it.each([
  [['FETCH', '/x'], 'not a method of the API'],
  [['GET', 'https://example.com/x'], 'the server with --host'],
  [['GET', '/runs/{run}'], '{run}: give {organization}, {workspace} or a value'],
  [['POST', '/x', '-f', 'a'], '--raw-field a: give <key>=<value>'],
  [['POST', '/x', '-f', 'a=1', '-f', 'a[b]=1'], 'already has a value'],
  [['POST', '/x', '-f', 'a=1', '--input', '-'], 'cannot be combined'],
  [['POST', '/x', '--paginate'], '--paginate needs GET'],
])('%j is a usage error', async (words, why) => {
  await expect(api(...words)).rejects.toMatchObject({ exitCode: exit.usage, message: expect.stringContaining(why) });
  expect(received).toEqual([]);
});
