import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf, pointerOf, startApi } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { startForge } from './support/forge-server.ts';

/** OAuth clients and tokens, with a forge server that is really called. */

const api = await startApi();
const forge = await startForge();
beforeEach(() => {
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
  forge.reset();
});

const values = (change: object = {}) => ({
  'service-provider': 'github',
  'http-url': forge.url,
  'api-url': forge.url,
  'oauth-token-string': 'good',
  ...change,
});
const post = (change: object = {}, relationships?: object) =>
  api.post('organizations/acme/oauth-clients', values(change), relationships);
const make = async (change: object = {}) => {
  const { status, body } = await post(change);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.data;
};
const tokenOf = (client: { relationships: { 'oauth-tokens': { data: { id: string }[] } } }): string =>
  client.relationships['oauth-tokens'].data[0]?.id ?? '';

it('a connection is created with a token that the forge accepts, and returns no secret', async () => {
  const made = await make({ name: 'hub' });
  expect(made).toMatchObject({
    id: expect.stringMatching(/^oc-\w{16}$/),
    type: 'oauth-clients',
    attributes: {
      name: 'hub',
      'service-provider': 'github',
      'service-provider-display-name': 'GitHub',
      'http-url': forge.url,
      'callback-url': `https://api.example.test/auth/${made.attributes.uuid}/callback`,
      key: null,
      secret: null,
      'rsa-public-key': null,
      'organization-scoped': true,
    },
    relationships: { organization: { data: { id: 'acme' } }, projects: { data: [] } },
  });
  const token = (await api.get(`oauth-tokens/${tokenOf(made)}`)).body.data;
  expect(token.attributes).toMatchObject({ 'service-provider-user': 'octocat', uid: null, 'has-ssh-key': false });
  const included = await api.get('organizations/acme/oauth-clients?include=oauth_tokens');
  expect(included.body.included.map(({ id }: { id: string }) => id)).toContain(tokenOf(made));
  const all = [made, token, included.body, (await api.get(`oauth-clients/${made.id}/oauth-tokens`)).body];
  expect(JSON.stringify(all)).not.toContain('"good"');
  const { get } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  expect(JSON.stringify(await get(keys.oauthToken(token.id)))).not.toContain('"good"');
});

it('a replaced token keeps its id', async () => {
  const made = await make();
  forge.tokens.add('better');
  const changed = await api.patch(`oauth-clients/${made.id}`, { 'oauth-token-string': 'better', name: 'renamed' });
  expect([changed.status, tokenOf(changed.body.data), changed.body.data.attributes.name]).toEqual([
    200,
    tokenOf(made),
    'renamed',
  ]);
  forge.tokens.delete('good');
  forge.on('GET', '/user/repos', { body: [{ id: 1, full_name: 'acme/infra', default_branch: 'main' }] });
  const repositories = await api.get(`oauth-tokens/${tokenOf(made)}/authorized-repos`);
  expect(repositories.body.data.map(({ id }: { id: string }) => id)).toEqual(['acme/infra']);
  expect(detailOf(await api.patch(`oauth-clients/${made.id}`, { 'oauth-token-string': 'bad' }))).toEqual([
    422,
    expect.stringContaining('GitHub refused the token'),
  ]);
});

describe('the API rejects', () => {
  const refused: [string, object, string][] = [
    ['a token that the forge does not accept', { 'oauth-token-string': 'wrong' }, 'GitHub refused the token'],
    ['an unknown provider', { 'service-provider': 'cvs' }, 'must be one of "github", "github_enterprise"'],
    ['a URL with a user', { 'api-url': 'https://a:b@github.example' }, 'without user'],
    ['http to where the operator allows nothing', { 'http-url': 'http://192.0.2.7' }, 'must be an https URL'],
    ['an inside address', { 'api-url': 'https://169.254.169.254' }, 'reserved address'],
    ['a secret without a key', { secret: 's' }, 'send both, or neither'],
    ['a private key for GitHub', { 'private-key': 'k' }, 'only for ado_server'],
    [
      'Azure DevOps Server without a private key',
      { 'service-provider': 'ado_server', 'oauth-token-string': '' },
      'private-key: is missing',
    ],
    [
      'a token for Azure DevOps without its organization',
      { 'service-provider': 'ado_services', 'api-url': 'https://dev.azure.com' },
      'send https://dev.azure.com/<organization>',
    ],
    ['what it does not know', { color: 'red' }, 'is not an attribute'],
  ];
  it.each(refused)('%s', async (_, change, words) => {
    const before = (await api.get('organizations/acme/oauth-clients')).body.data.length;
    expect(detailOf(await post(change))).toEqual([422, expect.stringContaining(words)]);
    expect((await api.get('organizations/acme/oauth-clients')).body.data).toHaveLength(before);
  });

  it('agent pools and projects of others', async () => {
    const withPool = (id: string) => post({}, { 'agent-pool': { data: { type: 'agent-pools', id } } });
    expect(detailOf(await withPool('apool-none'))[1]).toContain('the provided agent pool does not exist');
    const projects = { projects: { data: [{ type: 'projects', id: 'prj-none' }] } };
    expect(detailOf(await post({}, projects))[1]).toContain('project prj-none not found in acme');
  });

  it('a change of the provider', async () => {
    const made = await make();
    const changed = await api.patch(`oauth-clients/${made.id}`, { 'api-url': 'https://elsewhere.example' });
    expect(detailOf(changed)).toEqual([422, expect.stringContaining('cannot be changed')]);
  });
});

it('a connection without a token is stored without a request', async () => {
  const bitbucket = {
    'service-provider': 'bitbucket_data_center',
    'http-url': 'https://bbdc.com',
    'api-url': 'https://bbdc.com',
  };
  const made = await make({ ...bitbucket, 'oauth-token-string': '', key: 'key' });
  expect(made.attributes).toMatchObject({ key: 'key', 'service-provider-display-name': 'Bitbucket Data Center' });
  expect(detailOf(await api.patch(`oauth-clients/${made.id}`, { key: '' }))[1]).toContain(
    'The Consumer Key for Bitbucket Data Center must be present',
  );
  expect(forge.calls).toEqual([]);
});

it('a Gitea that the tfe provider declares as GitHub Enterprise is recognized', async () => {
  forge.on('GET', '/api/v1/version', { body: { version: '1.26.0' } });
  forge.on('GET', '/api/v1/user', { body: { id: 1, login: 'tea' } });
  const made = await make({ 'service-provider': 'github_enterprise', 'api-url': `${forge.url}/api/v1` });
  expect(made.attributes['service-provider']).toBe('github_enterprise');
  const { getClient } = await import('#version-control/connections.ts');
  expect((await getClient(made.id))?.dialect).toBe('gitea');
});

it('SSH keys without a passphrase are stored, and only their existence is returned', async () => {
  const id = tokenOf(await make());
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 1024,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  expect((await api.patch(`oauth-tokens/${id}`, { 'ssh-key': privateKey })).body.data.attributes['has-ssh-key']).toBe(
    true,
  );
  expect(detailOf(await api.patch(`oauth-tokens/${id}`, { 'ssh-key': 'no key' }))[1]).toContain('Ssh key is invalid');
  expect((await api.patch(`oauth-tokens/${id}`, {})).status).toBe(200);
});

it('a connection that is not organization-scoped serves only its projects', async () => {
  const project = (await api.post('organizations/acme/projects', { name: 'served' })).body.data.id;
  const made = await make({ 'organization-scoped': false });
  const data = [{ type: 'projects', id: project }];
  const path = `oauth-clients/${made.id}/relationships/projects`;
  expect((await api.call('POST', path, { body: { data } })).status).toBe(204);
  const read = async () => (await api.get(`oauth-clients/${made.id}`)).body.data.relationships.projects.data;
  expect(await read()).toEqual(data);
  expect((await api.call('DELETE', path, { body: { data } })).status).toBe(204);
  expect(await read()).toEqual([]);
});

it('a workspace cannot move to a project that its connection does not serve', async () => {
  const project = async (name: string) =>
    (await api.post('organizations/acme/projects', { name })).body.data.id as string;
  const [served, other] = [await project('served here'), await project('not served')];
  const made = await make({ 'organization-scoped': false });
  const named = (id: string) => ({ data: [{ type: 'projects', id }] });
  await api.call('POST', `oauth-clients/${made.id}/relationships/projects`, { body: named(served) });
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { id } = await api.workspace();
  const vcsRepo = { identifier: 'acme/infra', oauthTokenId: tokenOf(made), clientId: made.id, repository: 'none' };
  await update(keys.workspace(id), { set: { vcsRepo } });
  const moveTo = (where: string) =>
    api.call('POST', `projects/${where}/relationships/workspaces`, { body: { data: [{ type: 'workspaces', id }] } });
  const refused = await moveTo(other);
  expect(pointerOf(refused)).toEqual([422, '/data/0/id']);
  expect(refused.body.errors[0].detail).toContain('not for project not served');
  expect((await moveTo(served)).status).toBe(204);
  await api.call('POST', `oauth-clients/${made.id}/relationships/projects`, { body: named(other) });
  expect((await moveTo(other)).status).toBe(204);
});

it('a connection is deleted at once with its token', async () => {
  const made = await make();
  expect((await api.call('DELETE', `oauth-clients/${made.id}`)).status).toBe(204);
  expect((await api.get(`oauth-clients/${made.id}`)).status).toBe(404);
  expect((await api.get(`oauth-tokens/${tokenOf(made)}`)).status).toBe(404);
  expect((await api.call('DELETE', `oauth-clients/${made.id}`)).status).toBe(404);
  const { completeClientEnd } = await import('#version-control/complete-end.ts');
  const { getEndedClient, getEndedToken } = await import('#version-control/connections.ts');
  await completeClientEnd(made.id);
  expect([await getEndedClient(made.id), await getEndedToken(tokenOf(made))]).toEqual([undefined, undefined]);
});

it('a rate-limited token is paused, and one that the forge no longer accepts is reported', async () => {
  const id = tokenOf(await make());
  forge.on('GET', '/user/repos', { status: 429, headers: { 'retry-after': '120' }, body: {} });
  expect((await api.get(`oauth-tokens/${id}/authorized-repos`)).status).toBe(503);
  forge.calls.length = 0;
  expect((await api.get(`oauth-tokens/${id}/authorized-repos`)).status).toBe(503);
  expect(forge.calls).toEqual([]);
  const other = tokenOf(await make());
  forge.tokens.clear();
  const refused = await api.get(`oauth-tokens/${other}/authorized-repos`);
  expect(detailOf(refused)).toEqual([422, expect.stringContaining('GitHub refused the token')]);
  const { 'error-message': words } = (await api.get(`oauth-tokens/${other}`)).body.data.attributes;
  expect(words).toBe('GitHub no longer accepts the token');
});

it('members without permission can neither see repositories nor change connections', async () => {
  const { member } = await memberHelpers();
  const { token } = await member('acme');
  const made = await make();
  expect((await api.get(`oauth-tokens/${tokenOf(made)}/authorized-repos`, { token })).status).toBeGreaterThan(400);
  expect((await api.call('DELETE', `oauth-clients/${made.id}`, { token })).status).toBeGreaterThan(400);
});

it('a project-scoped connection shows repositories only to users who can connect a follower', async () => {
  forge.on('GET', '/user/repos', { body: [] });
  forge.on('GET', '/repos/acme/infra', { body: { id: 1, full_name: 'acme/infra', default_branch: 'main' } });
  const { withLevel, withFlags } = await memberHelpers();
  // In the default project.
  const [maintainer, policies] = [await withLevel('acme', 'admin'), await withFlags('acme', 'manage-policies')];
  const seen = async (client: Awaited<ReturnType<typeof make>>, { token }: { token: string }) => {
    const id = tokenOf(client);
    const query = `oauth_token_id=${id}&identifier=acme/infra`;
    const paths = [`oauth-tokens/${id}/authorized-repos`, `organizations/acme/vcs/repo?${query}`];
    const answers = await Promise.all(paths.map((path) => api.get(path, { token })));
    return answers.map(({ status }) => status);
  };
  const everywhere = await make();
  for (const caller of [maintainer, policies]) expect(await seen(everywhere, caller)).toEqual([200, 200]);
  const elsewhere = await make({ 'organization-scoped': false });
  for (const caller of [maintainer, policies]) expect(await seen(elsewhere, caller)).toEqual([403, 403]);
  const home = (await api.get('organizations/acme')).body.data.relationships['default-project'].data.id;
  const added = await api.call('POST', `oauth-clients/${elsewhere.id}/relationships/projects`, {
    body: { data: [{ type: 'projects', id: home }] },
  });
  expect(added.status).toBe(204);
  expect([await seen(elsewhere, maintainer), await seen(elsewhere, policies)]).toEqual([
    [200, 200],
    [403, 403],
  ]);
});

it('a connection is created without an organization in the path, for the one in the body', async () => {
  const path = 'oauth-clients';
  const created = await api.post(path, values({ 'organization-id': 'acme' }));
  expect([created.status, created.body.data.relationships.organization.data.id]).toEqual([201, 'acme']);
  expect((await api.post(path, values({ 'organization-id': 'nosuch' }))).status).toBe(404);
  expect((await api.post(path, values())).status).toBe(404);
});

it('a connection lists folders of a branch as working directories', async () => {
  const id = tokenOf(await make());
  const sha = 'a'.repeat(40);
  forge.on('GET', '/repos/acme/infra', { body: { id: 1, full_name: 'acme/infra', default_branch: 'main' } });
  forge.on('GET', '/repos/acme/infra/branches/main', { body: { commit: { sha } } });
  const tree = [
    { path: 'network', type: 'tree' },
    { path: 'main.tf', type: 'blob' },
    { path: 'app/prod', type: 'tree' },
  ];
  forge.on('GET', `/repos/acme/infra/git/trees/${sha}`, { body: { tree } });
  const read = (query: string) =>
    api.get(`organizations/acme/vcs/tree?oauth_token_id=${id}&identifier=acme/infra${query}`);
  const { data } = (await read('')).body;
  expect(data.map((one: { id: string; type: string }) => [one.type, one.id])).toEqual([
    ['vcs-tree', 'app/prod'],
    ['vcs-tree', 'network'],
  ]);
  expect((await read('&branch=none')).status).toBe(404);
});
