import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

const api = await startApi();

const modules = 'organizations/acme/registry-modules';

const newModule = async () => {
  const name = uniqueName('vpc');
  const { status, body } = await api.post(modules, { name, provider: 'aws', 'registry-name': 'private' });
  expect(status).toBe(201);
  return { name, path: `${modules}/private/acme/${name}/aws`, document: body.data };
};

const upload = async (url: string, content: Uint8Array): Promise<number> =>
  (await fetch(url, { method: 'PUT', body: content as unknown as BodyInit })).status;

const publish = async (name: string, version: string, content: Uint8Array): Promise<void> => {
  const response = await api.post(`registry-modules/acme/${name}/aws/versions`, { version });
  expect(response.status).toBe(201);
  expect(await upload(response.body.data.links.upload, content)).toBe(200);
};

const files = {
  'main.tf': 'variable "size" {\n  type = number\n  default = 3\n}\nresource "null_resource" "a" {}\n',
  'outputs.tf': 'output "id" {\n  description = <<EOT\nits id\nEOT\n  value = 1\n}\n',
  'README.md': '# A module\n',
  'modules/part/main.tf': 'variable "name" {}\n',
  'modules/part/README.md': '# A part\n',
  'examples/small/main.tf': '',
  'other/main.tf': 'variable "none" {}\n',
};

/** Header of a file in a tar archive (POSIX.1: ustar). */
const headerOf = (size: number): Buffer => {
  const header = Buffer.alloc(512);
  header.write('main.tf');
  header.write('0000644\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        0', 148);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
};
/** Small archives: one file that claims a size of 1 GB, and more empty files than a module may have. */
const largeFile = () => gzipSync(Buffer.concat([headerOf(1024 ** 3 - 1024), Buffer.alloc(1024 * 1024)]));
const manyFiles = () => gzipSync(Buffer.concat(Array(50_001).fill(headerOf(0))));

const statuses = async (path: string) => (await api.get(path)).body.data.attributes;

describe('a module', () => {
  it('is pending until a version was uploaded, then can be installed', async () => {
    const { name, path, document } = await newModule();
    expect(document.attributes).toMatchObject({ status: 'pending', 'version-statuses': [], namespace: 'acme' });
    const response = await api.post(`${path}/versions`, { version: '1.0.0', 'commit-sha': 'abc' });
    expect(response.body.data.attributes).toMatchObject({ status: 'pending', version: '1.0.0', 'commit-sha': 'abc' });
    expect(response.body.data.links.upload).toContain('/object/');
    const protocol = `/api/registry/v1/modules/acme/${name}/aws`;
    expect((await api.get(`${protocol}/versions`)).body.modules[0].versions).toEqual([]);
    expect((await api.get(`${protocol}/1.0.0/download`)).status).toBe(404);

    const archive = await packFiles(files);
    await upload(response.body.data.links.upload, archive);
    expect(await statuses(path)).toMatchObject({
      status: 'setup_complete',
      'version-statuses': [{ version: '1.0.0', status: 'ok' }],
    });
    const download = await api.get(`${protocol}/1.0.0/download`);
    expect(download.status).toBe(204);
    const url = download.headers['x-terraform-get'] ?? '';
    expect(new URL(url).pathname).toMatch(/\.tar\.gz$/);
    expect((await fetch(url)).status).toBe(200);
    // A published version does not change with later uploads to the old URL.
    await upload(response.body.data.links.upload, await packFiles({ 'main.tf': '# forged' }));
    const again = await fetch((await api.get(`${protocol}/1.0.0/download`)).headers['x-terraform-get'] ?? '');
    expect(Buffer.from(await again.arrayBuffer()).equals(Buffer.from(archive))).toBe(true);
  });

  it('stays pending when its upload was not read while the URL was valid', async () => {
    const { name, path } = await newModule();
    await publish(name, '1.0.0', await packFiles(files));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_700_000 });
    expect(await statuses(path)).toMatchObject({ status: 'pending' });
    vi.useRealTimers();
    expect(await statuses(path)).toMatchObject({ status: 'setup_complete' });
  });

  it('returns its inputs, outputs, resources and submodules', async () => {
    const { name, path } = await newModule();
    await publish(name, '1.0.0', await packFiles(files));
    await statuses(path);
    const { body } = await api.get(`/api/registry/v1/modules/acme/${name}/aws/1.0.0`);
    expect(body.root).toMatchObject({
      readme: '# A module\n',
      inputs: [{ name: 'size', type: 'number', default: '3', required: false }],
      outputs: [{ name: 'id', description: 'its id' }],
      resources: [{ type: 'null_resource', name: 'a' }],
    });
    const part = {
      path: 'modules/part',
      name: 'part',
      readme: '# A part\n',
      inputs: [{ name: 'name', required: true }],
    };
    expect(body.submodules).toMatchObject([part]);
    expect(body.examples).toMatchObject([{ path: 'examples/small', name: 'small', empty: false }]);
    expect(body).toMatchObject({
      id: `acme/${name}/aws/1.0.0`,
      owner: 'acme',
      namespace: 'acme',
      name,
      provider: 'aws',
      version: '1.0.0',
      versions: ['1.0.0'],
      verified: false,
      deprecation: null,
    });
  });

  it('returns the marks of its inputs and the providers that it requires', async () => {
    const { name, path } = await newModule();
    const text = `
      terraform {
        required_providers {
          aws = { source = "hashicorp/aws", version = "~> 5.0" }
          own = { source = "registry.example.com/acme/own" }
          random = "3.1.0"
        }
      }
      variable "secret" { sensitive = true }
      variable "token" { ephemeral = true }
      variable "open" { sensitive = false }
    `;
    await publish(name, '1.0.0', await packFiles({ 'main.tf': text, 'notes.txt': 'variable "none" {}' }));
    await statuses(path);
    const { root } = (await api.get(`/api/registry/v1/modules/acme/${name}/aws/1.0.0`)).body;
    type Marked = { name: string; sensitive?: boolean; ephemeral?: boolean };
    const marks = root.inputs.map(({ name, sensitive, ephemeral }: Marked) => [name, sensitive, ephemeral]);
    expect(marks.sort()).toEqual([
      ['open', undefined, undefined],
      ['secret', true, undefined],
      ['token', undefined, true],
    ]);
    expect(root.provider_dependencies).toEqual([
      { name: 'aws', namespace: 'hashicorp', source: 'hashicorp/aws', version: '~> 5.0' },
      { name: 'own', namespace: 'acme', source: 'registry.example.com/acme/own', version: '' },
      { name: 'random', namespace: 'hashicorp', source: 'hashicorp/random', version: '3.1.0' },
    ]);
  });

  it('of a repository takes its versions from tags alone', async () => {
    const { document, path } = await newModule();
    expect(document.attributes).toMatchObject({
      'publishing-mechanism': 'non_vcs',
      'test-config': null,
    });
    expect(document.attributes).not.toHaveProperty('vcs-repo');
    const { connectModule, getModule } = await import('#resources/registry/modules/records.ts');
    const repository = { identifier: 'acme/vpc', branch: '' } as never;
    const connected = await connectModule((await getModule(document.id)) as never, {
      vcsRepo: repository,
      tagPrefix: 'v',
    });
    expect(connected).toMatchObject({ id: document.id, vcsRepo: repository, tagPrefix: 'v' });
    expect(await statuses(path)).toMatchObject({
      'publishing-mechanism': 'git_tag',
      'vcs-repo': { identifier: 'acme/vpc', tags: true, 'tag-prefix': 'v' },
    });
    const { status, body } = await api.post(`${path}/versions`, { version: '1.0.0' });
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('come from tags of acme/vpc')]);
  });

  it('has no details before its content was read', async () => {
    const { name, path } = await newModule();
    await api.post(`${path}/versions`, { version: '1.0.0' });
    expect((await api.get(`/api/registry/v1/modules/acme/${name}/aws/1.0.0`)).status).toBe(404);
    await publish(name, '1.1.0', Buffer.from('no archive'));
    expect((await api.get(`/api/registry/v1/modules/acme/${name}/aws/1.1.0`)).status).toBe(404);
  });

  it('of the private registry belongs to its organization, of the public one to a namespace', async () => {
    const refused = async (attributes: object) => {
      const { status, body } = await api.post(modules, { name: uniqueName('vpc'), provider: 'aws', ...attributes });
      return [status, body.errors?.[0].source.pointer];
    };
    const [registry, namespace] = ['/data/attributes/registry-name', '/data/attributes/namespace'];
    expect(await refused({ namespace: 'acme' })).toEqual([422, registry]);
    expect(await refused({ 'registry-name': 'public' })).toEqual([422, namespace]);
    expect(await refused({ 'registry-name': 'private', namespace: 'other' })).toEqual([422, namespace]);
    expect(await refused({ 'registry-name': 'private', namespace: 'acme' })).toEqual([201, undefined]);
    await api.post(modules, { name: 'open', provider: 'aws', 'registry-name': 'public', namespace: 'hashicorp' });
    const version = await api.post(`${modules}/public/hashicorp/open/aws/versions`, { version: '1.0.0' });
    expect(detailOf(version)).toEqual([422, expect.stringContaining('public registry')]);
    const { body } = await api.post(modules, { name: uniqueName('vpc'), provider: 'aws' });
    expect(body.data.attributes).toMatchObject({ 'registry-name': 'private', namespace: 'acme', 'no-code': false });
  });

  it('lists versions newest first, and leads to the newest stable one', async () => {
    const { name, path } = await newModule();
    for (const version of ['1.2.0', '1.10.0', '2.0.0-beta1']) await publish(name, version, await packFiles(files));
    const shown = (await statuses(path))['version-statuses'].map((one: { version: string }) => one.version);
    expect(shown).toEqual(['2.0.0-beta1', '1.10.0', '1.2.0']);
    const { status, headers } = await api.get(`/api/registry/v1/modules/acme/${name}/aws/download`);
    expect([status, headers.location]).toEqual([302, `/api/registry/v1/modules/acme/${name}/aws/1.10.0/download`]);
  });

  it.each<[string, Uint8Array | Record<string, string>, RegExp]>([
    ['nothing', new Uint8Array(), /is empty/],
    ['text', Buffer.from('resource'), /not a gzip/],
    ['a file of a gigabyte', largeFile(), /main\.tf has more than 1 MiB/],
    ['no Terraform', { 'inner/main.tf': '' }, /no Terraform configuration at the root/],
    [
      'a path that leads out of it',
      { [`${'d/'.repeat(60)}../main.tf`]: '' },
      /^.{100}: paths must not contain "\.\."\.$/,
    ],
    ['an absolute path', { '/main.tf': '' }, /^\/main\.tf: paths must be relative/],
    [
      '17 MiB of Terraform',
      Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`${n}.tf`, 'x'.repeat(1024 * 1024)])),
      /more than 16 MiB/,
    ],
    ['50,001 files', manyFiles(), /more than 50000 entries/],
  ])('whose archive is %s fails with the reason', async (_, content, why) => {
    const { name, path } = await newModule();
    await publish(name, '1.0.0', content instanceof Uint8Array ? content : await packFiles(content));
    const attributes = await statuses(path);
    expect(attributes.status).toBe('setup_failed');
    expect(attributes['version-statuses'][0]).toMatchObject({ status: 'reg_ingress_failed' });
    expect(attributes['version-statuses'][0].error).toMatch(why);
  });

  it('has a unique name and unique versions', async () => {
    const { name, path } = await newModule();
    const again = await api.post(modules, { name, provider: 'aws' });
    expect(detailOf(again)).toEqual([422, 'Name has already been taken']);
    const responses = await Promise.all([1, 2].map(() => api.post(`${path}/versions`, { version: '1.0.0' })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 422]);
  });

  it('is deleted with its last version', async () => {
    const { name, path, document } = await newModule();
    await publish(name, '1.0.0', await packFiles(files));
    await publish(name, '1.1.0', await packFiles(files));
    const remove = (version: string) => api.call('POST', `registry-modules/actions/delete/acme/${name}/aws/${version}`);
    expect((await remove('1.0.0')).status).toBe(204);
    expect((await api.get(path)).status).toBe(200);
    expect((await remove('1.1.0')).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
    const { keys } = await import('#platform/store/keys.ts');
    const { queryAll } = await import('#platform/store/table.ts');
    expect(await queryAll({ pk: keys.module(document.id).pk })).toEqual([]);
    expect((await api.post(modules, { name, provider: 'aws' })).status).toBe(201);
    const removed = await Promise.all([1, 2].map(() => api.call('DELETE', path)));
    expect(removed.map(({ status }) => status)).toContain(204);
    expect((await api.get(path)).status).toBe(404);
  });

  it('is deleted completely when its deletion was interrupted and is repeated', async () => {
    // Logs of the interrupted requests.
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { keys } = await import('#platform/store/keys.ts');
    const { queryAll } = await import('#platform/store/table.ts');
    for (let n = 1, isCut = true; isCut; n++) {
      const { path, document } = await newModule();
      await api.post(`${path}/versions`, { version: '1.0.0' });
      api.aws.failCall(n, 'before');
      await api.call('DELETE', path);
      isCut = !api.aws.pendingFault;
      api.aws.failCall(0, 'before');
      await api.call('DELETE', path);
      expect(await queryAll({ pk: keys.module(document.id).pk }), `call ${n}`).toEqual([]);
    }
    log.mockRestore();
  });

  it('reports that a version is deprecated', async () => {
    const { name, path } = await newModule();
    await publish(name, '1.0.0', await packFiles(files));
    await api.get(path);
    const deprecation = { 'deprecated-status': 'Deprecated', reason: 'old', link: 'https://example.test/' };
    expect((await api.patch(`${path}/1.0.0`, { deprecation })).status).toBe(200);
    const { body } = await api.get(`/api/registry/v1/modules/acme/${name}/aws/versions`);
    expect(body.modules[0].versions[0].deprecation).toEqual({ reason: 'old', link: 'https://example.test/' });
  });

  it('is never deprecated with a link that could be a script', async () => {
    const { name, path } = await newModule();
    await publish(name, '1.0.0', await packFiles(files));
    const deprecate = (link: string) =>
      api.patch(`${path}/1.0.0`, { deprecation: { 'deprecated-status': 'Deprecated', reason: 'old', link } });
    for (const link of ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', 'nowhere']) {
      const { status, body } = await deprecate(link);
      expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/attributes/deprecation/link']);
    }
    expect((await deprecate('')).status).toBe(200);
  });

  it.each([
    [{ name: 'a b', provider: 'aws' }, 'name'],
    [{ name: 'a', provider: 'AWS' }, 'provider'],
    [{ name: 'a', provider: 'aws', namespace: 'acme' }, 'registry-name'],
    [{ name: 'a', provider: 'aws', 'registry-name': 'private', namespace: 'other' }, 'namespace'],
    [{ name: 'a', provider: 'aws', 'no-code': 'yes' }, 'no-code'],
    [{ name: 'a', provider: 'aws', 'vcs-repo': { identifier: 'x' } }, 'vcs-repo'],
  ])('is rejected with the name of the field: %j', async (attributes, field) => {
    const { status, body } = await api.post(modules, attributes);
    expect([status, body.errors[0].source.pointer]).toEqual([422, `/data/attributes/${field}`]);
  });
});

describe('permissions on modules', () => {
  it('team members can install, teams with manage-modules can publish, and others get 404', async () => {
    const members = await memberHelpers();
    const { name, path } = await newModule();
    const reader = await members.withFlags('acme', 'read-projects');
    const publisher = await members.withFlags('acme', 'manage-modules');
    const outside = await members.member('acme');
    const protocol = `/api/registry/v1/modules/acme/${name}/aws/versions`;
    const as = ({ token }: { token: string }) => ({ token });
    expect((await api.get(protocol, as(reader))).status).toBe(200);
    expect((await api.get(protocol, as(outside))).status).toBe(404);
    expect((await api.get(protocol, { token: null })).status).toBe(401);
    expect((await api.post(`${path}/versions`, { version: '1.0.0' }, {}, as(reader))).status).toBe(403);
    expect((await api.post(`${path}/versions`, { version: '1.0.0' }, {}, as(publisher))).status).toBe(201);
    const shown = await api.get(`${path}/version?module_version=1.0.0`, as(reader));
    expect([shown.status, shown.body.data.links]).toEqual([200, undefined]);
  });
});
