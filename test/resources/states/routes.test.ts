import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Resource } from '#api/answer.ts';
import { detailOf, pointerOf, ref, startApi } from '#test/support/api.ts';
import { resource, type StateFile, stateFile } from '#test/support/state.ts';

const api = await startApi();
const { handler: uploaded } = await import('#resources/states/uploaded.ts');

const locked = async () => {
  const { id, attributes } = await api.workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`);
  return { id: id as string, name: attributes.name as string };
};
const announce = (id: string, content: StateFile = {}, more: object = {}) => {
  const { text: _, ...attributes } = stateFile(content);
  return api.post(`workspaces/${id}/state-versions`, { ...attributes, ...more });
};
const direct = (id: string, content: StateFile = {}, more: object = {}) => {
  const { text } = stateFile(content);
  return announce(id, content, { state: Buffer.from(text).toString('base64'), ...more });
};
const put = (url: string, body: string) => fetch(url, { method: 'PUT', body });

describe('a state version', () => {
  it('is created, uploaded without credentials, and finalized when read', async () => {
    const { id } = await locked();
    const content = { resources: [resource('null_resource', 'a')], outputs: { n: { value: 1, type: 'number' } } };
    const response = await announce(id, content, { 'json-state-outputs': 'e30=' });
    expect(response.status).toBe(201);
    const { attributes } = response.body.data;
    expect(response.body.data).toMatchObject({
      id: expect.stringMatching(/^sv-\w{16}$/),
      type: 'state-versions',
      attributes: {
        status: 'pending',
        serial: 1,
        size: null,
        'state-version': null,
        'terraform-version': null,
        'hosted-state-download-url': null,
        'hosted-json-state-download-url': null,
        'resources-processed': false,
        resources: null,
        sha256: null,
      },
      relationships: { outputs: { data: [] } },
    });
    await Promise.all([
      put(attributes['hosted-state-upload-url'], stateFile(content).text),
      put(attributes['hosted-json-state-upload-url'], '{"format_version":"1.0"}'),
    ]);
    const read = (await api.get(`state-versions/${response.body.data.id}`)).body.data;
    expect(read.attributes).toMatchObject({
      status: 'finalized',
      size: stateFile(content).text.length,
      sha256: createHash('sha256').update(stateFile(content).text).digest('hex'),
      'error-message': null,
      'terraform-version': '1.11.4',
      'state-version': 4,
      'resources-processed': true,
      resources: [{ name: 'a', type: 'null_resource', count: 1, module: 'root' }],
      'hosted-state-upload-url': null,
      'hosted-json-state-upload-url': null,
      'hosted-state-download-url': `https://api.example.test/api/v2/state-versions/${response.body.data.id}/download`,
    });
    const current = await api.get(`workspaces/${id}/current-state-version`);
    expect(current.body.data).toEqual(read);
    expect((await api.get(`workspaces/${id}`)).body.data).toMatchObject({
      attributes: { 'resource-count': 1 },
      relationships: { 'current-state-version': { data: { id: read.id } } },
    });
  });

  it('names its tainted resources, and the workspace counts them', async () => {
    const { id } = await locked();
    const instances = [
      { index_key: 0, status: 'tainted', attributes: {} },
      { index_key: 1, attributes: {} },
    ];
    await direct(id, { resources: [{ ...resource('null_resource', 'a'), instances }] });
    const listed = (await api.get(`workspaces/${id}/resources`)).body.data;
    expect(listed.map(({ attributes }: Resource) => [attributes['full-address'], attributes.tainted])).toEqual([
      ['null_resource.a[0]', true],
      ['null_resource.a[1]', false],
    ]);
    const { attributes } = (await api.get(`workspaces/${id}`)).body.data;
    expect(attributes).toMatchObject({ 'resource-count': 2, 'tainted-count': 1 });
  });

  it('becomes current with the event of its upload, without a request', async () => {
    const { id } = await locked();
    const { attributes, id: versionId } = (await announce(id)).body.data;
    const event = (key: string) => ({ detail: { object: { key } } }) as Parameters<typeof uploaded>[0];
    await uploaded(event(`uploads/${versionId}.tfstate`));
    expect((await api.get(`workspaces/${id}/current-state-version`)).status).toBe(404);
    await put(attributes['hosted-state-upload-url'], stateFile().text);
    await uploaded(event(`uploads/${versionId}.json`));
    expect((await api.get(`workspaces/${id}/current-state-version`)).status).toBe(404);
    for (let repeat = 0; repeat < 2; repeat++) await uploaded(event(`uploads/${versionId}.tfstate`));
    const current = (await api.get(`workspaces/${id}/current-state-version`)).body.data;
    expect(current).toMatchObject({ id: versionId, attributes: { status: 'finalized' } });
    await uploaded(event('uploads/sv-unknown00000000.tfstate'));
  });

  it('is downloaded through a redirect, raw and as JSON', async () => {
    const { id } = await locked();
    const response = await announce(id);
    const { attributes } = response.body.data;
    await put(attributes['hosted-json-state-upload-url'], '{"json":1}');
    await put(attributes['hosted-state-upload-url'], stateFile().text);
    const read = (await api.get(`state-versions/${response.body.data.id}`)).body.data.attributes;
    for (const [url, content] of [
      [read['hosted-state-download-url'], stateFile().text],
      [read['hosted-json-state-download-url'], '{"json":1}'],
    ]) {
      const answer = await api.get(new URL(url).pathname);
      expect(answer.status).toBe(302);
      expect(await (await fetch(answer.headers.location as string)).text()).toBe(content);
    }
  });

  it('is finalized immediately when the content is in the body', async () => {
    const { id } = await locked();
    const response = await direct(id, { serial: 3 });
    expect(response.status).toBe(201);
    expect(response.body.data.attributes).toMatchObject({ status: 'finalized', serial: 3 });
    expect((await direct(id, { serial: 4 }, { lineage: undefined })).status).toBe(201);
    const other = await direct(id, { serial: 5, lineage: 'other' }, { lineage: undefined });
    expect([other.status, JSON.stringify(other.body)]).toEqual([409, expect.stringContaining('lineage other')]);
    const many = Array.from({ length: 500 }, (_, n) => resource('x', `r${n}`));
    expect((await direct(id, { serial: 5, resources: many })).body.data.attributes.resources).toHaveLength(500);
  });

  it('of one workspace is not that of another with the same content', async () => {
    const [one, other] = [(await direct((await locked()).id)).body.data, (await direct((await locked()).id)).body.data];
    expect(other.id).not.toBe(one.id);
    expect(other.relationships.workspace.data.id).not.toBe(one.relationships.workspace.data.id);
  });

  it('of an environment’s workspace is neither created nor rolled back to', async () => {
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    const { id } = await locked();
    const old = (await direct(id, { serial: 1 })).body.data;
    await direct(id, { serial: 2 });
    await update(keys.workspace(id), { set: { managedBy: 'environment acme/dev' } });
    const to = { 'rollback-state-version': { data: { type: 'state-versions', id: old.id } } };
    for (const answer of [await direct(id, { serial: 3 }), await api.patch(`workspaces/${id}/state-versions`, {}, to)])
      expect(detailOf(answer)).toEqual([409, expect.stringContaining('coder state push')]);
  });

  it('is 404 for a new workspace', async () => {
    const { id } = await api.workspace();
    expect((await api.get(`workspaces/${id}/current-state-version`)).status).toBe(404);
    expect((await api.get(`workspaces/${id}/current-state-version-outputs`)).status).toBe(404);
  });

  it('is rejected without the lock and when it does not follow the current one', async () => {
    const { id } = await locked();
    await direct(id, { serial: 4 });
    for (const content of [
      { serial: 3 },
      { serial: 5, lineage: 'other' },
      { serial: 4, resources: [resource('x', 'y')] },
    ]) {
      const answer = await announce(id, content);
      expect([content, answer.status]).toEqual([content, 409]);
    }
    expect((await direct(id, { serial: 3 }, { force: true })).status).toBe(201);
    await api.call('POST', `workspaces/${id}/actions/unlock`);
    const unlocked = await announce(id, { serial: 9 });
    expect(detailOf(unlocked)).toEqual([409, expect.stringMatching(/must be locked/)]);
  });

  it('is returned again when its creation is repeated', async () => {
    const { id } = await locked();
    const [one, two] = [await announce(id), await announce(id)];
    expect(two.body.data.id).toBe(one.body.data.id);
    // With a known SHA-256 it is a different version: the one announced above accepts any content with that MD5.
    const [first, again] = [await direct(id), await direct(id)];
    expect(first.body.data.id).not.toBe(one.body.data.id);
    expect(again.body.data).toMatchObject({ id: first.body.data.id, attributes: { status: 'finalized' } });
    expect((await announce(id)).body.data).toMatchObject({
      id: first.body.data.id,
      attributes: { status: 'finalized', 'hosted-state-upload-url': null },
    });
  });

  it.each([
    ['no serial', { serial: undefined }, 'serial'],
    ['an invalid serial', { serial: '1' }, 'serial'],
    ['a negative serial', { serial: -1 }, 'serial'],
    ['no md5', { md5: undefined }, 'md5'],
    ['an invalid md5', { md5: 'xyz' }, 'md5'],
    ['content with another md5', { md5: '0'.repeat(32), state: 'e30=' }, 'md5'],
  ])('is rejected with %s', async (_, attributes, field) => {
    const { id } = await locked();
    const answer = await announce(id, {}, attributes);
    expect(pointerOf(answer)).toEqual([422, `/data/attributes/${field}`]);
  });

  it('gets the lineage of its upload when none was announced', async () => {
    const { id } = await locked();
    const response = await announce(id, {}, { lineage: undefined });
    expect(response.status).toBe(201);
    await fetch(response.body.data.attributes['hosted-state-upload-url'], { method: 'PUT', body: stateFile().text });
    const current = async () => (await api.get(`state-versions/${response.body.data.id}`)).body.data.attributes.status;
    expect(await current()).toBe('finalized');
    expect((await announce(id, { serial: 9, lineage: 'other' })).status).toBe(409);
  });

  it('keeps the workspace locked until its content is uploaded', async () => {
    const { id } = await locked();
    const announced = await announce(id);
    const unlock = () => api.call('POST', `workspaces/${id}/actions/unlock`);
    const refused = await unlock();
    expect([refused.status, refused.body.errors[0].title]).toEqual([422, 'latest state version is still pending']);
    await put(announced.body.data.attributes['hosted-state-upload-url'], stateFile().text);
    expect((await unlock()).status).toBe(200);
    const current = await api.get(`workspaces/${id}/current-state-version`);
    expect(current.body.data.id).toBe(announced.body.data.id);
  });

  it('shows its upload URL only to its author', async () => {
    const { memberHelpers } = await import('#test/support/members.ts');
    const { joinTeam } = await import('#resources/users/memberships.ts');
    const help = await memberHelpers();
    const [author, reader] = [await help.withLevel('acme', 'write'), await help.withLevel('acme', 'read')];
    await joinTeam(reader.team, author.id);
    const { id } = await api.workspace();
    await api.call('POST', `workspaces/${id}/actions/lock`, { token: author.token });
    const { text: _, ...attributes } = stateFile();
    const sent = { token: author.token };
    const announced = (await api.post(`workspaces/${id}/state-versions`, attributes, {}, sent)).body.data;
    const urlFor = async (token: string) =>
      (await api.get(`state-versions/${announced.id}`, { token })).body.data.attributes['hosted-state-upload-url'];
    expect(await urlFor(author.token)).toMatch(/^http/);
    expect(await urlFor(api.token), 'for another user with permission to write states').toBeNull();
    await api.call('DELETE', `teams/${author.team.id}`);
    expect(await urlFor(author.token), 'without permission to write states').toBeNull();
  });

  it('whose content does not have the announced checksum is discarded', async () => {
    const { id } = await locked();
    const { storeState } = await import('#resources/states/finalize.ts');
    const { createStateVersion } = await import('#resources/states/records.ts');
    const { getWorkspace } = await import('#resources/workspaces/records.ts');
    const workspace = await getWorkspace(id);
    if (!workspace) throw new Error('no workspace');
    const { text, ...file } = stateFile();
    const made = await createStateVersion({
      workspace,
      userId: api.userId,
      force: false,
      intermediate: false,
      ...file,
      sha256: '0'.repeat(64),
    });
    if ('conflict' in made) throw new Error(made.conflict);
    const shown = (await api.get(`state-versions/${made.stateVersion.id}`)).body.data.attributes;
    expect([shown.status, shown['hosted-state-upload-url']], 'its content is known').toEqual(['pending', null]);
    await expect(storeState(made.stateVersion, Buffer.from(text))).rejects.toThrow('announced SHA-256');
    expect((await api.get(`workspaces/${id}/current-state-version`)).status).toBe(404);
  });

  it('that was abandoned with its lock does not block a later one', async () => {
    const { id } = await locked();
    await announce(id, { serial: 3 });
    await api.call('POST', `workspaces/${id}/actions/force-unlock`);
    await api.call('POST', `workspaces/${id}/actions/lock`);
    expect((await api.call('POST', `workspaces/${id}/actions/unlock`)).status).toBe(200);
    await api.call('POST', `workspaces/${id}/actions/lock`);
    await announce(id, { serial: 4 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    expect((await api.call('POST', `workspaces/${id}/actions/unlock`)).status, 'after a minute').toBe(200);
    vi.useRealTimers();
  });

  it('is rejected when its content is not a state', async () => {
    const { id } = await locked();
    const answer = await direct(id, { version: 3 });
    expect(detailOf(answer)).toEqual([422, expect.stringMatching(/format version 3/)]);
  });

  it('shows why its upload was rejected', async () => {
    const { id } = await locked();
    const response = await announce(id);
    await put(response.body.data.attributes['hosted-state-upload-url'], 'something else');
    const read = (await api.get(`state-versions/${response.body.data.id}`)).body.data.attributes;
    expect(read).toMatchObject({ status: 'discarded', 'error-message': expect.stringContaining('MD5') });
    expect((await api.get(`workspaces/${id}/current-state-version`)).status).toBe(404);
  });
});

describe('the list of state versions', () => {
  it('requires both filters and returns the newest first in pages', async () => {
    const { id, name } = await locked();
    for (const serial of [1, 2, 3]) await direct(id, { serial });
    await announce(id, { serial: 4 });
    const list = async (query: string) =>
      (await api.get(`state-versions?filter[organization][name]=acme&filter[workspace][name]=${name}${query}`)).body;
    const serials = (body: { data: { attributes: { serial: number } }[] }) =>
      body.data.map(({ attributes }) => attributes.serial);
    expect(serials(await list(''))).toEqual([4, 3, 2, 1]);
    expect((await list('')).data[0].relationships).not.toHaveProperty('next-state-version');
    const second = await list('&page[size]=3&page[number]=2');
    expect([serials(second), second.meta.pagination['total-count']]).toEqual([[1], 4]);
    expect(serials(await list('&filter[status]=finalized'))).toEqual([3, 2, 1]);
    expect((await api.get('state-versions?filter[organization][name]=acme')).status).toBe(400);
  });

  it('is that of a renamed organization under its current name', async () => {
    await api.post('organizations', { name: 'listed-before', email: 'a@b.test' });
    await api.post('organizations/listed-before/workspaces', { name: 'net' });
    await api.patch('organizations/listed-before', { name: 'listed-now' });
    const filter = 'filter[organization][name]=listed-now&filter[workspace][name]=net';
    expect((await api.get(`state-versions?${filter}`)).status).toBe(200);
  });
});

describe('state outputs', () => {
  const outputs = {
    url: { value: 'http://x', type: 'string' },
    password: { value: 'hunter2', type: 'string', sensitive: true },
    ports: { value: [80, 443], type: ['list', 'number'] },
    tags: { value: { a: true }, type: ['object', { a: 'bool' }] },
    on: { value: true, type: 'bool' },
  };
  let id: string;
  let versionId: string;
  beforeAll(async () => {
    id = (await locked()).id;
    versionId = (await direct(id, { outputs })).body.data.id;
  });

  it('are listed with types, without sensitive values', async () => {
    const { body } = await api.get(`workspaces/${id}/current-state-version-outputs`);
    expect(body.data.map((output: { attributes: object }) => output.attributes)).toEqual([
      { name: 'url', sensitive: false, type: 'string', value: 'http://x', 'detailed-type': 'string' },
      { name: 'password', sensitive: true, type: 'string', value: null, 'detailed-type': 'string' },
      { name: 'ports', sensitive: false, type: 'array', value: [80, 443], 'detailed-type': ['list', 'number'] },
      {
        name: 'tags',
        sensitive: false,
        type: 'object',
        value: { a: true },
        'detailed-type': ['object', { a: 'bool' }],
      },
      { name: 'on', sensitive: false, type: 'boolean', value: true, 'detailed-type': 'bool' },
    ]);
    expect(body.meta.pagination['total-count']).toBe(5);
    const paged = (await api.get(`state-versions/${versionId}/outputs?page[size]=2&page[number]=3`)).body;
    expect(paged.data.map((output: { id: string }) => output.id)).toEqual([body.data[4].id]);
    const included = (await api.get(`workspaces/${id}/current-state-version?include=outputs`)).body;
    expect(included.included).toEqual(body.data);
    expect(included.data.relationships.outputs.data.map((one: { id: string }) => one.id)).toEqual(
      body.data.map((one: { id: string }) => one.id),
    );
    expect(JSON.stringify([body, included, paged])).not.toContain('hunter2');
    const listed = (await api.get(`state-versions/${versionId}/outputs`)).body.data;
    expect(listed[1].attributes).toMatchObject({ name: 'password', value: 'hunter2' });
  });

  it('show a sensitive value only individually, to readers of the state', async () => {
    const { body } = await api.get(`workspaces/${id}/current-state-version-outputs`);
    const output = body.data[1];
    expect(output).toMatchObject({ type: 'state-version-outputs', id: expect.stringMatching(/^wsout-/) });
    expect((await api.get(`state-version-outputs/${output.id}`)).body.data.attributes.value).toBe('hunter2');
    expect((await api.get(`state-version-outputs/${output.id}z`)).status).toBe(404);
    const { memberHelpers } = await import('#test/support/members.ts');
    const { token, team } = await (await memberHelpers()).withFlags('acme');
    const access = { access: 'custom', 'state-versions': 'read-outputs' };
    await api.post('team-workspaces', access, { team: ref('teams', team.id), workspace: ref('workspaces', id) });
    const seen = async (one: { id: string }) => (await api.get(`state-version-outputs/${one.id}`, { token })).status;
    const open = body.data.find(({ attributes }: { attributes: { sensitive: boolean } }) => !attributes.sensitive);
    expect([await seen(open), await seen(output)], 'with permission to read outputs alone').toEqual([200, 403]);
  });

  it('are not available before the content', async () => {
    const other = await locked();
    const response = await announce(other.id);
    expect((await api.get(`state-versions/${response.body.data.id}/outputs`)).status).toBe(503);
  });
});

describe('rollback', () => {
  it('makes an older state current as a new version', async () => {
    const { id } = await locked();
    const old = (await direct(id, { serial: 1, outputs: { n: { value: 'old', type: 'string' } } })).body.data;
    await direct(id, { serial: 2 });
    const to = (sv: string) => ({ 'rollback-state-version': { data: { type: 'state-versions', id: sv } } });
    const answer = await api.patch(`workspaces/${id}/state-versions`, {}, to(old.id));
    expect(answer.status).toBe(201);
    expect(answer.body.data).toMatchObject({
      attributes: { serial: 3, status: 'finalized' },
      relationships: { 'rollback-state-version': { data: { id: old.id } } },
    });
    const { body } = await api.get(`workspaces/${id}/current-state-version-outputs`);
    expect(body.data[0].attributes.value).toBe('old');
    const foreign = (await direct((await locked()).id)).body.data.id;
    await api.call('POST', `state-versions/${old.id}/actions/soft_delete_backing_data`);
    for (const refused of ['sv-unknown', foreign, old.id]) {
      expect((await api.patch(`workspaces/${id}/state-versions`, {}, to(refused))).status).toBe(422);
    }
    await api.call('POST', `state-versions/${old.id}/actions/restore_backing_data`);
    await api.call('POST', `workspaces/${id}/actions/unlock`);
    expect((await api.patch(`workspaces/${id}/state-versions`, {}, to(old.id))).status).toBe(409);
  });
});
