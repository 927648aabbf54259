import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { archive } from '#test/support/policies.ts';
import { identifierOf, readGitmodules } from '#version-control/submodules.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';

/** Submodules of fetched commits, with a server that answers like GitHub. */

const followed = await Followed.start();
const { api, forge } = followed;
beforeEach(() => followed.reset());

const section = (path: string, url: string) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`;

/** Sets the commit of a submodule at a path of a repository. */
const linked = (identifier: string, path: string, n: number) =>
  forge.on('GET', `/repos/${identifier}/contents/${path}`, { body: { type: 'submodule', sha: sha(n) } });

const packed = async (identifier: string, n: number, files: Record<string, string>) => {
  const inFolder = Object.entries(files).map(([name, text]) => [`top-1/${name}`, text] as const);
  const body = await archive(Object.fromEntries(inFolder));
  forge.on('GET', `/repos/${identifier}/tarball/${sha(n)}`, { body });
};

const connect = async (submodules = true) => {
  const { token } = await followed.connection();
  const workspace = await followed.workspace(token, {}, { 'ingress-submodules': submodules });
  await followed.settleAndFetch();
  return { workspace, hook: new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname, token };
};

const versionsOf = async ({ id }: { id: string }): Promise<Json[]> =>
  (await api.get(`workspaces/${id}/configuration-versions`)).body.data;

/** Names and texts of the files in a plan. */
const filesOf = async (workspace: { id: string }): Promise<Record<string, string>> => {
  const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
  const { getObject } = await import('#platform/store/bucket.ts');
  const [{ id }] = await versionsOf(workspace);
  const version = await getConfigurationVersion(id);
  const bytes = await getObject(version?.archive?.key ?? '');
  const unpacking = extract();
  unpacking.end(gunzipSync(bytes as Buffer));
  const files: Record<string, string> = {};
  for await (const entry of unpacking) {
    const parts: Buffer[] = [];
    for await (const part of entry) parts.push(part as Buffer);
    if (entry.header.type === 'file') files[entry.header.name] = Buffer.concat(parts).toString();
  }
  return files;
};

it('a configuration includes the files of submodules, also of nested ones and by relative URLs', async () => {
  await packed(followed.identifier, 0, {
    'main.tf': 'root',
    '.gitmodules': section('modules/net', '../net.git') + section('gone', '../gone'),
  });
  linked(followed.identifier, 'modules/net', 5);
  await packed('acme/net', 5, { 'net.tf': 'net', '.gitmodules': section('deep', `${forge.url}/other/deep.git`) });
  linked('acme/net', 'deep', 6);
  await packed('other/deep', 6, { 'deep.tf': 'deep' });
  const { workspace } = await connect();
  expect(await filesOf(workspace)).toMatchObject({
    'main.tf': 'root',
    'modules/net/net.tf': 'net',
    'modules/net/deep/deep.tf': 'deep',
  });
  expect(workspace.attributes['vcs-repo']['ingress-submodules']).toBe(true);
});

it('a configuration omits submodules by default, and a commit is fetched once for each setting', async () => {
  await packed(followed.identifier, 0, { 'main.tf': 'root', '.gitmodules': section('net', '../net') });
  linked(followed.identifier, 'net', 5);
  await packed('acme/net', 5, { 'net.tf': 'net' });
  const { workspace, token } = await connect();
  const plain = await followed.workspace(token);
  await followed.settleAndFetch();
  expect(Object.keys(await filesOf(plain)).sort()).toEqual(['.gitmodules', 'main.tf']);
  expect(Object.keys(await filesOf(workspace))).toContain('net/net.tf');
  const asked = (identifier: string) => forge.asked('GET', `/repos/${identifier}/tarball/${sha(0)}`).length;
  expect([asked(followed.identifier), asked('acme/net')]).toEqual([2, 0]);
});

it('enabling submodules creates another version', async () => {
  await packed(followed.identifier, 0, { 'main.tf': 'root', '.gitmodules': section('net', '../net') });
  linked(followed.identifier, 'net', 5);
  await packed('acme/net', 5, { 'net.tf': 'net' });
  const { workspace } = await connect(false);
  await api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': { 'ingress-submodules': true } });
  await followed.settleAndFetch();
  expect((await versionsOf(workspace)).length).toBe(2);
  expect(Object.keys(await filesOf(workspace))).toContain('net/net.tf');
});

describe('a version reports why it has no submodule', () => {
  const failureOf = async (url: string, path = 'net') => {
    await packed(followed.identifier, 0, { 'main.tf': 'root' });
    const { workspace, hook } = await connect();
    await packed(followed.identifier, 1, { 'main.tf': 'root', '.gitmodules': section(path, url) });
    linked(followed.identifier, 'net', 5);
    forge.calls.length = 0;
    await followed.deliver(hook, 'push', push(0, 1));
    await followed.settleAndFetch();
    const [{ attributes }] = await versionsOf(workspace);
    return [attributes.status, attributes['error-message']];
  };

  it.each([
    ['https://elsewhere.example/acme/net.git', 'only repositories of'],
    ['git@elsewhere.example:acme/net.git', 'SSH keys are not used for submodules'],
    ['http://127.0.0.1:1/acme/net', 'only repositories of'],
    ['file:///etc/passwd', 'only repositories of'],
    ['../../../../etc/passwd', 'only repositories of'],
    ['../nosuch', 'finds no commit'],
  ])('with the URL %s', async (url, words) => {
    const [status, message] = await failureOf(url);
    expect([status, message]).toEqual(['errored', expect.stringContaining(words)]);
    expect(message).toContain('The submodule at net cannot be fetched');
  });

  it('with a path outside of the archive', async () => {
    expect(await failureOf('../net', '../up')).toEqual([
      'errored',
      expect.stringContaining('.gitmodules names the path'),
    ]);
    expect(forge.asked('GET', /\/contents\//)).toEqual([]);
  });

  it('in a circle of submodules', async () => {
    const itself = `../${followed.identifier.split('/')[1]}`;
    await packed(followed.identifier, 5, { '.gitmodules': section('net', itself) });
    const [status, message] = await failureOf(itself);
    expect([status, message]).toEqual(['errored', expect.stringContaining('nested deeper than 5')]);
  });
});

it('the parser reads .gitmodules like git', () => {
  const text =
    '# a comment\n[submodule "a b"]\r\n\tpath = "a b"\r\n\turl = "https://h/o/r" # why\n[submodule "c"]\n  url = ../c ; note\n  path = c/\n\tbranch = x\n[submodule "d"]\n\tpath = d\n';
  expect(readGitmodules(text)).toEqual([
    { path: 'a b', url: 'https://h/o/r' },
    { path: 'c', url: '../c' },
  ]);
});

it.each([
  ['../net.git', 'acme/net'],
  ['../../other/net', 'other/net'],
  ['../../..', undefined],
  ['https://user:secret@forge.example/acme/net.git', 'acme/net'],
  ['https://forge.example:8443/acme/net', undefined],
  ['https://forge.example.evil.example/acme/net', undefined],
  ['git@forge.example:acme/net.git', 'acme/net'],
  ['ssh://git@forge.example:2222/acme/net', 'acme/net'],
  ['https://forge.example/acme/../../etc/net', 'etc/net'],
  ['https://forge.example/net', undefined],
  ['javascript:alert(1)', undefined],
])('the URL %s resolves to %s', (url, identifier) => {
  expect(identifierOf(url, { httpUrl: 'https://forge.example', identifier: 'acme/infra' })).toBe(identifier);
});
