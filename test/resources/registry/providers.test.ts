import { createHash } from 'node:crypto';
import { generateKey } from 'openpgp';
import { describe, expect, it } from 'vitest';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

const gpgKeys = '/api/registry/private/v2/gpg-keys';

const rsaKey = async () => {
  const { publicKey } = await generateKey({
    type: 'rsa',
    rsaBits: 2048,
    userIDs: [{ name: 'Acme' }],
    format: 'object',
  });
  return { armored: publicKey.armor(), id: publicKey.getKeyID().toHex().toUpperCase() };
};

const api = await startApi();
const key = await rsaKey();
const armor = key.armored;
const response = await api.post(gpgKeys, { namespace: 'acme', 'ascii-armor': armor });
expect(response.status).toBe(201);
const keyId = response.body.data.attributes['key-id'];
expect(keyId).toBe(key.id);

const providers = 'organizations/acme/registry-providers';
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');
const put = async (url: string, body: string) => expect((await fetch(url, { method: 'PUT', body })).status).toBe(200);

const newVersion = async (signedBy: string = keyId) => {
  const name = uniqueName('thing');
  const response = await api.post(providers, { name, namespace: 'acme', 'registry-name': 'private' });
  expect(response.status).toBe(201);
  const path = `${providers}/private/acme/${name}`;
  const version = await api.post(`${path}/versions`, { version: '1.2.0', 'key-id': signedBy, protocols: ['5.0'] });
  expect(version.status).toBe(201);
  return { name, path, version: version.body.data, protocol: `/api/registry/v1/providers/acme/${name}` };
};

const addPlatform = async (path: string, content: string) => {
  const filename = 'terraform-provider-thing_1.2.0_linux_amd64.zip';
  const values = { os: 'linux', arch: 'amd64', filename, shasum: sha256(content) };
  const { status, body } = await api.post(`${path}/versions/1.2.0/platforms`, values);
  expect(status).toBe(201);
  return { filename, upload: body.data.links['provider-binary-upload'] as string };
};

describe('a version of a provider', () => {
  it('is offered to Terraform once checksums, signature and a binary are uploaded', async () => {
    const { path, version, protocol } = await newVersion();
    const { filename, upload } = await addPlatform(path, 'binary');
    expect(upload).toContain('/object/');
    expect(new URL(version.links['shasums-upload']).pathname).toContain(`/object/${version.id}.SHA256SUMS`);
    expect(new URL(version.links['shasums-sig-upload']).pathname).toContain(`/object/${version.id}.SHA256SUMS.sig`);
    const offered = async () => (await api.get(`${protocol}/versions`)).body.versions;
    await put(version.links['shasums-upload'], `${sha256('binary')}  ${filename}\n`);
    await put(version.links['shasums-sig-upload'], 'signature');
    expect(await offered()).toEqual([]);
    await put(upload, 'binary');
    expect(await offered()).toEqual([
      { version: '1.2.0', protocols: ['5.0'], platforms: [{ os: 'linux', arch: 'amd64' }] },
    ]);
    const { included } = (await api.get(`${path}?include=registry_provider_versions`)).body;
    expect(included.map(({ id }: { id: string }) => id)).toEqual([version.id]);
    const { body } = await api.get(`${protocol}/1.2.0/download/linux/amd64`);
    expect(body).toMatchObject({ filename, shasum: sha256('binary'), os: 'linux', arch: 'amd64' });
    expect(body.signing_keys.gpg_public_keys).toMatchObject([{ key_id: keyId, ascii_armor: armor }]);
    expect(await (await fetch(body.download_url)).text()).toBe('binary');
    expect(await (await fetch(body.shasums_signature_url)).text()).toBe('signature');
    for (const other of ['1.2.0/download/darwin/amd64', '1.2.0/download/linux/arm64', '1.3.0/download/linux/amd64'])
      expect((await api.get(`${protocol}/${other}`)).status).toBe(404);
    const shown = (await api.get(`${path}/versions/1.2.0`)).body.data;
    expect(shown.attributes).toMatchObject({ 'shasums-uploaded': true, 'shasums-sig-uploaded': true });
    expect(shown.links['shasums-download']).toBeDefined();
    expect(shown.links['shasums-upload']).toBeUndefined();
    // An offered version does not change with later uploads to the old URL.
    await put(upload, 'forged');
    const again = (await api.get(`${protocol}/1.2.0/download/linux/amd64`)).body;
    expect(await (await fetch(again.download_url)).text()).toBe('binary');
  });

  it('is not offered before its signature is uploaded', async () => {
    const { path, version, protocol } = await newVersion();
    const { filename, upload } = await addPlatform(path, 'binary');
    await put(version.links['shasums-upload'], `${sha256('binary')}  ${filename}\n`);
    await put(upload, 'binary');
    const offered = async () => {
      const { status, body } = await api.get(`${protocol}/versions`);
      return [status, body.versions.length];
    };
    expect(await offered()).toEqual([200, 0]);
    expect((await api.get(`${protocol}/1.2.0/download/linux/amd64`)).status).toBe(404);
    // An accepted binary does not change while the signature is missing.
    await put(upload, 'forged');
    expect(await offered()).toEqual([200, 0]);
    const one = await api.get(`${path}/versions/1.2.0/platforms/linux/amd64`);
    expect(one.body.data.attributes['status-message']).toBeNull();
    await put(version.links['shasums-sig-upload'], 'signature');
    expect(await offered()).toEqual([200, 1]);
  });

  it('is not offered for a platform that was deleted, which can be added again', async () => {
    const { path, version, protocol } = await newVersion();
    const { filename, upload } = await addPlatform(path, 'binary');
    await put(version.links['shasums-upload'], `${sha256('binary')}  ${filename}\n`);
    await put(version.links['shasums-sig-upload'], 'signature');
    await put(upload, 'binary');
    const platforms = `${path}/versions/1.2.0/platforms`;
    expect((await api.get(`${platforms}/linux/amd64`)).status).toBe(200);
    expect((await api.get(platforms)).body.data).toHaveLength(1);
    expect((await api.call('DELETE', `${platforms}/linux/amd64`)).status).toBe(204);
    expect((await api.get(`${platforms}/linux/amd64`)).status, 'the deleted platform').toBe(404);
    expect((await api.get(platforms)).body.data).toEqual([]);
    expect((await api.get(`${protocol}/versions`)).body.versions).toEqual([]);
    expect((await api.get(`${protocol}/1.2.0/download/linux/amd64`)).status).toBe(404);
    expect((await api.call('DELETE', `${platforms}/linux/amd64`)).status).toBe(404);
    await addPlatform(path, 'another');
    expect((await api.get(platforms)).body.data).toHaveLength(1);
  });

  it('explains why it is not offered: the binary differs from the announced one', async () => {
    const { path, version, protocol } = await newVersion();
    const { filename, upload } = await addPlatform(path, 'binary');
    await put(version.links['shasums-upload'], `${sha256('binary')}  ${filename}\n`);
    await put(version.links['shasums-sig-upload'], 'signature');
    await put(upload, 'forged');
    expect((await api.get(`${protocol}/versions`)).body.versions).toEqual([]);
    const { attributes } = (await api.get(`${path}/versions/1.2.0`)).body.data;
    expect(attributes['status-message']).toContain(sha256('forged'));
    await put(upload, 'binary');
    expect((await api.get(`${protocol}/versions`)).body.versions).toHaveLength(1);
  });

  it('explains why it is not offered: the sums differ', async () => {
    const { path, version, protocol } = await newVersion();
    const { filename, upload } = await addPlatform(path, 'binary');
    await put(version.links['shasums-upload'], `${sha256('other')}  ${filename}\n`);
    await put(version.links['shasums-sig-upload'], 'signature');
    await put(upload, 'binary');
    expect((await api.get(`${protocol}/versions`)).body.versions).toEqual([]);
    const { attributes } = (await api.get(`${path}/versions/1.2.0`)).body.data;
    expect(attributes['status-message']).toMatch(/SHA256SUMS has a different checksum/);
  });

  it('is not offered while its organization lacks the key that signed it', async () => {
    const { path, version, protocol } = await newVersion('0123456789ABCDEF');
    const { filename, upload } = await addPlatform(path, 'binary');
    await put(version.links['shasums-upload'], `${sha256('binary')}  ${filename}\n`);
    await put(version.links['shasums-sig-upload'], 'signature');
    await put(upload, 'binary');
    expect((await api.get(`${protocol}/versions`)).body.versions).toEqual([]);
    expect((await api.get(`${protocol}/1.2.0/download/linux/amd64`)).status).toBe(404);
    const { attributes } = (await api.get(`${path}/versions/1.2.0`)).body.data;
    expect(attributes['status-message']).toBe('acme has no GPG key 0123456789ABCDEF; add it');
  });

  it('names the upload that is missing or cannot be used, until Terraform is offered it', async () => {
    const { path, version, protocol } = await newVersion();
    const problem = async () => (await api.get(`${path}/versions/1.2.0`)).body.data.attributes['status-message'];
    expect(await problem()).toBe('SHA256SUMS is not uploaded');
    for (const [text, reason] of [
      ['', 'SHA256SUMS is empty'],
      ['x'.repeat(65_537), 'SHA256SUMS has 65537 bytes; at most 65536 are allowed'],
      ['no sums', 'SHA256SUMS has no line with a checksum and a file name'],
    ] as const) {
      await put(version.links['shasums-upload'], text);
      expect(await problem()).toBe(reason);
    }
    const filename = 'terraform-provider-thing_1.2.0_linux_amd64.zip';
    await put(version.links['shasums-upload'], `${sha256('binary')} *${filename}\r\n`);
    await put(version.links['shasums-sig-upload'], '');
    expect(await problem()).toBe('SHA256SUMS.sig is empty');
    await put(version.links['shasums-sig-upload'], 'signature');
    expect(await problem()).toBe('no platform is uploaded');
    const { upload } = await addPlatform(path, 'binary');
    expect(await problem()).toBe('the binary of linux_amd64 is not uploaded');
    await put(upload, '');
    expect(await problem()).toBe(`${filename} is empty`);
    await put(upload, 'binary');
    expect(await problem()).toBeNull();
    const { body } = await api.get(`${protocol}/1.2.0/download/linux/amd64`);
    expect(await (await fetch(body.shasums_url)).text()).toContain(filename);
  });

  it('is unique, like each of its platforms, and has a default protocol', async () => {
    const { path } = await newVersion();
    await addPlatform(path, 'binary');
    const values = { os: 'linux', arch: 'amd64', filename: 'a.zip', shasum: sha256('x') };
    expect((await api.post(`${path}/versions/1.2.0/platforms`, values)).status).toBe(422);
    expect((await api.post(`${path}/versions/1.2.0/platforms`, { ...values, os: 'darwin' })).status).toBe(201);
    const version = { version: '1.2.0', 'key-id': keyId, protocols: ['5.0'] };
    expect((await api.post(`${path}/versions`, version)).body.errors[0].detail).toMatch(/already been taken/);
    const silent = await api.post(`${path}/versions`, { version: '2.0.0', 'key-id': keyId, protocols: null });
    expect(silent.body.data.attributes.protocols).toEqual(['5.0']);
    const wrong = await api.post(`${path}/versions`, { version: '3.0.0', 'key-id': 'a key', protocols: ['5.0'] });
    expect(wrong.body.errors[0].source.pointer).toBe('/data/attributes/key-id');
    await api.post(providers, { name: 'open', namespace: 'hashicorp', 'registry-name': 'public' });
    const open = await api.post(`${providers}/public/hashicorp/open/versions`, version);
    expect([open.status, JSON.stringify(open.body)]).toEqual([403, expect.stringContaining('the public registry')]);
  });
});

it('a provider without a registry name is rejected with the error texts that clients match', async () => {
  const { status, body } = await api.post(providers, { name: 'thing', namespace: 'acme' });
  expect(status).toBe(422);
  expect(body.errors.map(({ detail }: { detail: string }) => detail)).toEqual([
    "Registry name can't be blank",
    'Registry name is not included in the list',
  ]);
});

describe('a GPG key', () => {
  it('is readable for its organization, and cannot be deleted while it signs a version', async () => {
    await newVersion();
    expect((await api.get(`${gpgKeys}/acme/${keyId}`)).body.data.attributes['ascii-armor']).toBe(armor);
    const listed = await api.get(`${gpgKeys}?filter[namespace]=acme`);
    expect(listed.body.data.map((one: { attributes: object }) => one.attributes)).toMatchObject([{ 'key-id': keyId }]);
    expect((await api.get(gpgKeys)).status).toBe(400);
    expect((await api.get(`${gpgKeys}?filter[namespace]=other`)).status).toBe(403);
    expect((await api.call('DELETE', `${gpgKeys}/acme/${keyId}`)).status).toBe(409);
    const { armored, id } = await rsaKey();
    expect((await api.post(gpgKeys, { namespace: 'acme', 'ascii-armor': armored })).status).toBe(201);
    expect((await api.post(gpgKeys, { namespace: 'acme', 'ascii-armor': armored })).status).toBe(422);
    const moved = await api.patch(`${gpgKeys}/acme/${id}`, { namespace: 'other' });
    expect(detailOf(moved)).toEqual([403, 'namespace not authorized']);
    const removed = await Promise.all([1, 2].map(() => api.call('DELETE', `${gpgKeys}/acme/${id}`)));
    expect(removed.map(({ status }) => status).sort()).toEqual([204, 404]);
    const many = (count: number) => api.get(`${gpgKeys}?filter[namespace]=acme,${'x,'.repeat(count)}`);
    expect([(await many(9)).status, (await many(10)).status]).toEqual([200, 400]);
  });

  it('can be moved to another organization of the publisher unless it signs a version', async () => {
    const other = uniqueName('other');
    const organization = { name: other, email: 'owner@example.test' };
    expect((await api.post('organizations', organization)).status).toBe(201);
    await newVersion();
    expect((await api.patch(`${gpgKeys}/acme/${keyId}`, { namespace: other })).status).toBe(409);
    const { armored, id } = await rsaKey();
    const add = (namespace: string) => api.post(gpgKeys, { namespace, 'ascii-armor': armored });
    await add('acme');
    const moved = await api.patch(`${gpgKeys}/acme/${id}`, { namespace: other });
    expect(moved.body.data.attributes).toMatchObject({ namespace: other, 'key-id': id });
    expect((await api.get(`${gpgKeys}/acme/${id}`)).status).toBe(404);
    expect((await api.get(`${gpgKeys}/${other}/${id}`)).body.data).toEqual(moved.body.data);
    // An interrupted move left the key in both organizations.
    await add('acme');
    expect((await api.patch(`${gpgKeys}/acme/${id}`, { namespace: other })).body.data).toEqual(moved.body.data);
    const member = await (await memberHelpers()).withFlags('acme', 'manage-providers');
    await add('acme');
    const body = { data: { attributes: { namespace: other } } };
    const refused = await api.call('PATCH', `${gpgKeys}/acme/${id}`, { token: member.token, body });
    expect(refused.status).toBe(403);
    expect((await api.get(`${gpgKeys}/acme/${id}`)).status).toBe(200);
  });

  it.each([['no armor'], ['-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----']])(
    'must be valid: %j',
    async (text) => {
      const { status, body } = await api.post(gpgKeys, { namespace: 'acme', 'ascii-armor': text });
      expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/attributes/ascii-armor']);
    },
  );

  it('requires permission to publish providers', async () => {
    const members = await memberHelpers();
    const reader = await members.withFlags('acme', 'read-projects');
    const key = { data: { attributes: { namespace: 'acme', 'ascii-armor': (await rsaKey()).armored } } };
    expect((await api.call('POST', gpgKeys, { token: reader.token, body: key })).status).toBe(403);
    const publisher = await members.withFlags('acme', 'manage-providers');
    expect((await api.call('POST', gpgKeys, { token: publisher.token, body: key })).status).toBe(201);
  });
});
