import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf, pointerOf, uniqueName } from '#test/support/api.ts';
import { Followed, type Json, sha } from './support/followed.ts';

/** Modules of the registry that are published by tags, with a server that answers like GitHub. */

const followed = await Followed.start();
const { api, forge } = followed;
const { versionOfTag } = await import('#version-control/module-versions.ts');
let token: string;

const files = { 'main.tf': 'variable "size" {}\n', 'README.md': '# Network\n' };
beforeEach(async () => {
  followed.reset(`acme/terraform-aws-${uniqueName('network')}`);
  tags();
  await followed.has(files);
  ({ token } = await followed.connection());
});

const tags = (...names: string[]) =>
  forge.on('GET', `/repos/${followed.identifier}/tags`, {
    body: names.map((name, i) => ({ name, commit: { sha: sha(i + 1) } })),
  });

const all = 'organizations/acme/registry-modules';
const publish = (repo: object = {}, attributes: object = {}, path = `${all}/vcs`) =>
  api.post(path, {
    'vcs-repo': {
      identifier: followed.identifier,
      'display-identifier': followed.identifier,
      'oauth-token-id': token,
      ...repo,
    },
    ...attributes,
  });
const connect = async (repo: object = {}, attributes: object = {}) => {
  const { status, body } = await publish(repo, attributes);
  expect([status, body.errors]).toEqual([201, undefined]);
  await followed.settleAndFetch();
  return { module: body.data, hook: new URL(body.data.attributes['vcs-repo']['webhook-url']).pathname };
};
const pushTag = async (hook: string, tag: string, n: number) => {
  const answer = await followed.deliver(hook, 'push', {
    ref: `refs/tags/${tag}`,
    before: '0'.repeat(40),
    after: sha(n),
    created: true,
    head_commit: { id: sha(n) },
  });
  await followed.settleAndFetch();
  return answer;
};
const statusesOf = async ({ links }: Json) => {
  const { body } = await api.get(links.self.replace('/api/v2/', ''));
  return Object.fromEntries(
    body.data.attributes['version-statuses'].map(({ version, status }: Json) => [version, status]),
  );
};

it('connecting publishes existing version tags, and names the module after its repository', async () => {
  tags('v1.0.0', '1.1.0-beta1', 'release', 'v2');
  const { module } = await connect();
  const name = followed.identifier.replace('acme/terraform-aws-', '');
  expect(module.attributes).toMatchObject({
    name,
    provider: 'aws',
    'registry-name': 'private',
    'publishing-mechanism': 'git_tag',
    'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token, tags: true, branch: '' },
  });
  expect(await statusesOf(module)).toEqual({ '1.0.0': 'ok', '1.1.0-beta1': 'ok' });
});

it('a pushed tag is published, and Terraform can install it', async () => {
  const { module, hook } = await connect();
  await pushTag(hook, 'v1.2.0', 3);
  expect(await statusesOf(module)).toEqual({ '1.2.0': 'ok' });
  const { name } = module.attributes;
  const versions = await api.get(`/api/registry/v1/modules/acme/${name}/aws/versions`);
  expect(versions.body.modules[0].versions.map(({ version }: Json) => version)).toEqual(['1.2.0']);
  const { body } = await api.get(`${module.links.self.replace('/api/v2/', '')}/version?module_version=1.2.0`);
  expect(body.data.attributes).toMatchObject({ 'commit-sha': sha(3), status: 'ok' });
});

it('a published version stays when its tag moves, and a repeated delivery is handled once', async () => {
  const { module, hook } = await connect();
  for (const n of [3, 3, 4]) await pushTag(hook, 'v1.2.0', n);
  const { body } = await api.get(`${module.links.self.replace('/api/v2/', '')}/version?module_version=1.2.0`);
  expect(body.data.attributes['commit-sha']).toBe(sha(3));
  expect(forge.asked('GET', /\/tarball\//).length).toBe(1);
  expect((await followed.messages()).filter((message) => message.includes('published already')).length).toBe(2);
});

it('a version reports why it could not be published', async () => {
  const { module, hook } = await connect();
  forge.on('GET', /\/tarball\//, { status: 401, body: {} });
  await pushTag(hook, 'v1.0.0', 3);
  expect(await statusesOf(module)).toEqual({ '1.0.0': 'clone_failed' });
  followed.forge.tokens.add('good');
});

it('a module uses only tags with its prefix, and workspaces run as before', async () => {
  const { module, hook } = await connect({ 'tag-prefix': 'net-' });
  const { workspace } = await followed.follow(token, {}, { 'tags-regex': '^v' });
  await pushTag(hook, 'v9.0.0', 3);
  await pushTag(hook, 'net-v1.0.0', 4);
  expect(await statusesOf(module)).toEqual({ '1.0.0': 'ok' });
  expect((await followed.commitsOf(workspace)).at(-1)).toBe(sha(3));
});

it('a module in a folder of its repository has the inputs of that folder, and Terraform installs that folder', async () => {
  await followed.has({ 'main.tf': 'variable "other" {}\n', 'modules/vpc/main.tf': 'variable "size" {}\n' });
  const name = uniqueName('vpc');
  const repo = { 'source-directory': 'modules/vpc', 'tag-prefix': 'vpc-' };
  const { module, hook } = await connect(repo, { name, provider: 'aws' });
  expect(module.attributes['vcs-repo']).toMatchObject(repo);
  await pushTag(hook, 'vpc-v1.0.0', 3);
  const path = `/api/registry/v1/modules/acme/${name}/aws/1.0.0`;
  expect((await api.get(path)).body.root.inputs.map((input: Json) => input.name)).toEqual(['size']);
  const { headers } = await api.get(`${path}/download`);
  const [, archive, folder, query] = /^(.+\.tar\.gz)\/\/([^?]+)(\?.+)$/.exec(headers['x-terraform-get'] ?? '') ?? [];
  expect(folder).toBe('modules/vpc');
  expect((await fetch(`${archive}${query}`)).status).toBe(200);
});

it('a version without configuration in the folder of its module reports it', async () => {
  const { module, hook } = await connect({ 'source-directory': 'modules/none' });
  await pushTag(hook, 'v1.0.0', 3);
  const { body } = await api.get(module.links.self.replace('/api/v2/', ''));
  expect(body.data.attributes['version-statuses']).toEqual([
    { version: '1.0.0', status: 'reg_ingress_failed', error: expect.stringContaining('modules/none') },
  ]);
  const tested = await api.patch(module.links.self.replace('/api/v2/', ''), {
    'test-config': { 'tests-enabled': true },
  });
  expect(pointerOf(tested)).toEqual([422, '/data/attributes/test-config']);
});

it('a module takes the organization from the connection, for older clients', async () => {
  const { status, body } = await publish({}, {}, 'registry-modules');
  expect([status, body.data.attributes.provider]).toEqual([201, 'aws']);
});

it('a module can be created as a no-code module', async () => {
  tags('v1.0.0');
  const { module } = await connect({}, { 'no-code': true });
  expect(module.attributes['no-code']).toBe(true);
  const [noCode] = module.relationships['no-code-modules'].data;
  const read = await api.get(`no-code-modules/${noCode.id}`);
  expect(read.body.data.relationships['registry-module'].data.id).toBe(module.id);
});

it('a deleted module disconnects from its repository', async () => {
  const { module, hook } = await connect();
  await api.call('DELETE', module.links.self);
  expect((await pushTag(hook, 'v1.0.0', 3)).status).toBe(404);
});

describe('the API rejects', () => {
  it.each<[repo: object, attributes: object, words: string]>([
    [{ branch: 'main' }, {}, 'branch'],
    [{ tags: false }, {}, 'tags'],
    ...['../a', '/a', 'a/../b', '.git', 'a//b', 'a b'].map((folder): [object, object, string] => [
      { 'source-directory': folder },
      {},
      'must be a folder',
    ]),
    [{ 'source-directory': 'a' }, { 'test-config': { 'tests-enabled': true } }, 'has no tests'],
    [{ 'oauth-token-id': 'ot-nosuch' }, {}, 'oauth-token-id'],
    [{ identifier: 'acme/none' }, {}, 'terraform-<provider>-<name>'],
  ])('%j and %j', async (repo, attributes, words) => {
    const { status, body } = await publish(repo, attributes);
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining(words)]);
  });

  it('a connection of another organization, and uploaded versions', async () => {
    const other = uniqueName('org');
    await api.post('organizations', { name: other, email: 'a@example.com' });
    const foreign = await api.post(`organizations/${other}/registry-modules/vcs`, {
      'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token },
    });
    expect(detailOf(foreign)).toEqual([422, expect.stringContaining('oauth-token-id')]);
    const { module } = await connect();
    const upload = await api.post(`${module.links.self.replace('/api/v2/', '')}/versions`, { version: '1.0.0' });
    expect(detailOf(upload)).toEqual([422, expect.stringContaining('come from tags')]);
    expect((await publish()).body.errors[0].detail).toMatch('has already been taken');
  });
});

it.each([
  ['v1.2.3', '', '1.2.3'],
  ['1.2.3-rc.1', '', '1.2.3-rc.1'],
  ['v1.2', '', undefined],
  ['vv1.2.3', '', undefined],
  ['a-v1.2.3', 'a-', '1.2.3'],
  ['v1.2.3', 'a-', undefined],
])('the tag %s with prefix "%s" has the version %s', (tag, prefix, version) => {
  expect(versionOfTag(tag, prefix)).toBe(version);
});
