import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { expect, it } from 'vitest';
import { eventOf, gzipHead, type Sent, startApi } from '#test/support/api.ts';

/** Security headers of every response of every function. */

const api = await startApi();
const workspace = await api.workspace();
const version = (await api.configuration(workspace.id, { 'auto-queue-runs': false }, gzipHead)).id;
const relationships = { workspace: { data: { type: 'workspaces', id: workspace.id } } };
const run = (await api.post('runs', {}, relationships)).body.data.relationships.plan.data.id;

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;
const functions = {
  api: () => import('#public-api/api.ts'),
  organizations: () => import('#public-api/organizations.ts'),
  runs: () => import('#public-api/runs.ts'),
  signIn: () => import('#public-api/sign-in.ts'),
  logs: () => import('#resources/runs/logs-handler.ts'),
  runner: () => import('#runner/api/handler.ts'),
} satisfies Record<string, () => Promise<{ handler: Handler }>>;
const form = { base64: true, token: null };

it.each<[string, number, keyof typeof functions, string, string, Sent]>([
  ['a document', 200, 'organizations', 'GET', '/api/v2/organizations/acme', {}],
  ['nothing', 204, 'api', 'GET', '/api/v2/ping', { token: null }],
  ['a redirect', 302, 'runs', 'GET', '/api/v2/configuration-versions/VERSION/download', {}],
  ['no token', 401, 'runs', 'GET', '/api/v2/runs/run-x', { token: null }],
  ['no route', 404, 'api', 'PATCH', '/api/v2/nothing', {}],
  ['a query that is too long', 414, 'api', 'GET', `/api/v2/ping?${'x'.repeat(5000)}`, {}],
  ['discovery', 200, 'api', 'GET', '/.well-known/terraform.json', { token: null }],
  ['the page of terraform login', 400, 'signIn', 'GET', '/oauth/authorization', form],
  ['an exchange', 400, 'signIn', 'POST', '/oauth/token', { ...form, body: 'grant_type=x' }],
  ['a log', 200, 'logs', 'GET', 'LOG', { token: null }],
  ['no log', 404, 'logs', 'GET', '/logs/x', { token: null }],
  ['a stranger to the runner protocol', 401, 'runner', 'POST', '/runner/v1/heartbeat', {}],
])('the response has security headers: %s (%i)', async (_, status, name, method, path, sent) => {
  const log = new URL((await api.get(`plans/${run}`)).body.data.attributes['log-read-url']).pathname;
  const { handler }: { handler: Handler } = await functions[name]();
  const url = path.replace('VERSION', version).replace('LOG', log);
  const answer = await handler(eventOf(method, url, { token: api.token, ...sent }), {} as Context);
  expect(answer.statusCode).toBe(status);
  expect(answer.headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'$/),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(Object.keys(answer.headers ?? {}).filter((header) => header.startsWith('access-control'))).toEqual([]);
});
