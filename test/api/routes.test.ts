import { afterEach, expect, it } from 'vitest';
import { type Answered, startApi } from '#test/support/api.ts';
import { type Frozen, freeze } from '#test/support/frozen-table.ts';
import { memberHelpers } from '#test/support/members.ts';
import { namedIn } from '#test/support/world.ts';

/** Rules for every route: authentication, and responses for missing resources. */

const api = await startApi();
const { routes } = await import('#public-api/all-routes.ts');
const members = await memberHelpers();
let frozen: Frozen | undefined;
afterEach(() => frozen?.thaw());

const guarded = () => routes.filter(({ access }) => access !== 'anyone');
const onSubject = () => guarded().filter(({ access }) => access !== 'any user');

/** One error, in the form that clients read. */
const error = ({ body, headers }: Answered) => {
  expect(headers['content-type']).toBe('application/vnd.api+json');
  expect(body.errors).toHaveLength(1);
  expect(typeof body.errors[0].status).toBe('string');
  return body.errors[0];
};

/** Unknown ids for routes whose subject is in the body or the query. */
const named = namedIn({
  workspace: 'ws-unknown',
  project: 'prj-unknown',
  organization: 'acme',
  name: 'unknown',
  namespace: 'unknown',
});
const { body } = named;
const query = `?${named.query}`;

it('the routes declare each method and path once', () => {
  const all = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
  expect(new Set(all).size).toBe(all.length);
});

it('every route rejects a missing or invalid token with 401', async () => {
  const { token: deleted } = await members.newUser('deleted');
  const { deleteToken, findToken } = await import('#resources/users/tokens.ts');
  const token = await findToken(deleted);
  await deleteToken(token?.userId ?? '', token?.id ?? '');
  frozen = freeze();
  for (const bad of [null, '', 'garbage', 'sfu_unknown', deleted]) {
    for (const { method, path } of guarded()) {
      const answer = await api.call(method, path.replaceAll(/\{\w+\}/g, 'x') + query, { token: bad, body });
      expect([path, answer.status, error(answer).status]).toEqual([path, 401, '401']);
    }
  }
});

it('an expired token is rejected with 401', async () => {
  const { createToken } = await import('#resources/users/tokens.ts');
  const { secret } = await createToken(api.userId, '', new Date(Date.now() - 1).toISOString());
  expect((await api.get('account/details', { token: secret })).status).toBe(401);
});

it.each(['unknown', 'run-unknown', '../..', '%00', 'x'.repeat(3000), '__proto__'])(
  'answers %j as any id or name with 404',
  async (id) => {
    frozen = freeze();
    for (const { method, path } of onSubject()) {
      const answer = await api.call(method, path.replaceAll(/\{\w+\}/g, id) + query, { body });
      expect([path, answer.status]).toEqual([path, 404]);
      error(answer);
    }
  },
);

it('unknown paths get a 404 with the standard headers', async () => {
  const below = ['nothing', 'organizations/acme/nothing', 'policies/x/nothing', 'varsets'];
  for (const path of ['/', '/api/v2', ...below.map((rest) => `/api/v2/${rest}`)]) {
    const answer = await api.call('GET', path);
    expect(answer.status).toBe(404);
    expect(error(answer).title).toBe('not found');
    expect(answer.headers).toMatchObject({ 'tfp-api-version': '2.6', 'tfp-appname': 'HCP Terraform' });
  }
});

it('the API serves service discovery and its version', async () => {
  const discovery = await api.get('/.well-known/terraform.json', { token: null });
  expect(discovery).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  expect(discovery.body).toEqual({
    'login.v1': expect.objectContaining({ client: 'terraform-cli' }),
    'modules.v1': '/api/registry/v1/modules/',
    'providers.v1': '/api/registry/v1/providers/',
    'tfe.v2': '/api/v2/',
    'tfe.v2.1': '/api/v2/',
    'tfe.v2.2': '/api/v2/',
    'state.v2': '/api/v2/',
  });
  const ping = await api.get('ping', { token: null });
  expect(ping.status).toBe(204);
  expect(ping.headers).toMatchObject({ 'tfp-api-version': '2.6', 'tfp-appname': 'HCP Terraform' });
});

it('the API names itself so that every client of Terraform and OpenTofu renders plans', async () => {
  const { headers } = await api.get('ping', { token: null });
  const [name, version = ''] = [headers['tfp-appname'], headers['x-tfe-version']];
  // go-tfe since 1.51 (Terraform 1.8.2) checks the name only. Older clients (Terraform 1.4, OpenTofu 1.6) check
  // another name, or recognize Terraform Enterprise by the month between the version's first letter and its first
  // hyphen.
  const isCloud = { now: name === 'HCP Terraform', before: name === 'Terraform Cloud' };
  const isEnterpriseThatRenders = version !== '' && Number(version.slice(1).split('-')[0]) >= 202302;
  expect([isCloud.now, isCloud.before || isEnterpriseThatRenders]).toEqual([true, true]);
});

it('the API sends security headers and allows no other origin', async () => {
  const { headers } = await api.get('organizations/acme');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

it('authentication takes 1 read, in parallel with the subject and the membership', async () => {
  const workspace = await api.workspace();
  const before = api.aws.calls;
  await api.get(`workspaces/${workspace.id}/current-state-version`);
  expect(api.aws.calls - before).toBe(3);
});
