import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { archive, policyFiles, policySetOf, uploadVersion } from '#test/support/policies.ts';
import { ids } from '#test/support/runs.ts';

const api = await startApi();

const all = 'organizations/acme/policy-sets';
const create = async (attributes: object = {}, relationships: object = {}) => {
  const answer = await api.post(all, { name: uniqueName('set'), kind: 'opa', ...attributes }, relationships);
  expect(answer.body.errors).toBeUndefined();
  return answer.body.data;
};
const newProject = async () =>
  (await api.post('organizations/acme/projects', { name: uniqueName('Project') })).body.data.id;
const list = (type: string, ...of: string[]) => ({ data: of.map((id) => ({ type, id })) });
const packed = async (files: Parameters<typeof archive>[0]) => new Uint8Array(await archive(files));
const read = async (id: string) => (await api.get(`policy-sets/${id}`)).body.data;

describe('a policy set', () => {
  it('is returned as created, with its scope', async () => {
    const [workspace, other, project] = [await api.workspace(), await api.workspace(), await newProject()];
    const policySet = await create(
      { description: 'for all', overridable: true, 'policy-tool-version': '0.44.0', 'policies-path': '/net/' },
      {
        workspaces: list('workspaces', workspace.id),
        'workspace-exclusions': list('workspaces', other.id),
        projects: list('projects', project),
        'project-exclusions': list('projects', project),
      },
    );
    expect(policySet).toMatchObject({
      id: expect.stringMatching(/^polset-\w{16}$/),
      type: 'policy-sets',
      attributes: {
        kind: 'opa',
        description: 'for all',
        global: false,
        overridable: true,
        versioned: false,
        'policy-tool-version': '0.44.0',
        'policies-path': '/net/',
        'workspace-count': 1,
        'project-count': 1,
        'policy-count': 0,
      },
      relationships: {
        workspaces: list('workspaces', workspace.id),
        'workspace-exclusions': list('workspaces', other.id),
        'current-version': { data: null },
      },
    });
    expect(await read(policySet.id)).toEqual(policySet);
    const include = 'workspaces,workspace_exclusions,projects,project_exclusions,policies,current_version';
    const { included } = (await api.get(`policy-sets/${policySet.id}?include=${include}`)).body;
    expect(ids(included).sort()).toEqual([workspace.id, other.id, project].sort());
    expect((await api.get(`policy-sets/${policySet.id}?include=nothing`)).status).toBe(400);
  });

  it('of kind sentinel loses the version of its evaluation when it returns to the policy check', async () => {
    const { id, attributes } = await create({
      ...{ kind: 'sentinel', 'agent-enabled': true, overridable: true, 'policy-tool-version': '0.44.0' },
    });
    expect(attributes).toMatchObject({ overridable: true, 'policy-tool-version': '0.44.0' });
    const { body } = await api.patch(`policy-sets/${id}`, { 'agent-enabled': false });
    expect(body.data.attributes).toMatchObject({ overridable: null, 'policy-tool-version': null });
    const again = await api.patch(`policy-sets/${id}`, { 'agent-enabled': false, 'policy-tool-version': '0.44.0' });
    expect(again.body.data.attributes['policy-tool-version']).toBe('0.44.0');
  });

  it('changes, and is deleted', async () => {
    const { id, attributes } = await create();
    const name = uniqueName('renamed');
    const changed = await api.patch(`policy-sets/${id}`, { name, global: true, overridable: true, description: 'x' });
    expect(changed.body.data.attributes).toMatchObject({ name, global: true, overridable: true, description: 'x' });
    const cleared = await api.patch(`policy-sets/${id}`, { description: null, global: false });
    expect(cleared.body.data.attributes).toMatchObject({ name, global: false, description: null });
    expect((await create({ name: attributes.name })).attributes.name).toBe(attributes.name);
    expect((await api.patch(`policy-sets/${id}`, { name: attributes.name })).body.errors[0]).toMatchObject({
      status: '422',
      source: { pointer: '/data/attributes/name' },
    });
    expect((await api.call('DELETE', `policy-sets/${id}`)).status).toBe(204);
    expect((await api.get(`policy-sets/${id}`)).status).toBe(404);
    expect((await create({ name })).attributes.name).toBe(name);
  });

  it.each([
    ['projects', 'projects'],
    ['workspaces', 'workspaces'],
    ['workspace-exclusions', 'workspaces'],
    ['project-exclusions', 'projects'],
  ])('is related to %s and unrelated, idempotently', async (relation, type) => {
    const thing = type === 'projects' ? await newProject() : (await api.workspace()).id;
    const { id } = await create();
    const path = `policy-sets/${id}/relationships/${relation}`;
    const related = async () => ids((await read(id)).relationships[relation].data);
    for (const _ of [1, 2]) expect((await api.call('POST', path, { body: list(type, thing) })).status).toBe(204);
    expect(await related()).toEqual([thing]);
    const unknown = await api.call('POST', path, { body: list(type, thing, 'x-unknown') });
    expect(unknown.body.errors[0]).toMatchObject({ status: '422', source: { pointer: '/data' } });
    for (const _ of [1, 2]) expect((await api.call('DELETE', path, { body: list(type, thing) })).status).toBe(204);
    expect(await related()).toEqual([]);
    expect((await api.call('POST', path, { body: { data: {} } })).status).toBe(422);
  });

  it('drops deleted workspaces and projects', async () => {
    const [workspace, excluded, project] = [await api.workspace(), await api.workspace(), await newProject()];
    const { id } = await create(
      {},
      {
        workspaces: list('workspaces', workspace.id),
        'workspace-exclusions': list('workspaces', excluded.id),
        projects: list('projects', project),
      },
    );
    for (const gone of [workspace.id, excluded.id]) await api.call('DELETE', `workspaces/${gone}`);
    await api.call('DELETE', `projects/${project}`);
    const { relationships } = await read(id);
    for (const name of ['workspaces', 'workspace-exclusions', 'projects']) {
      expect([name, relationships[name].data]).toEqual([name, []]);
    }
  });

  it('is rejected for unsupported settings, naming the field', async () => {
    for (const [input, field, detail] of [
      [{ 'vcs-repo': { identifier: 'a/b' } }, 'vcs-repo/oauth-token-id', 'is missing'],
      [{ kind: 'tfpolicy' }, 'kind', 'must be one of'],
      [{ 'policies-path': '../up' }, 'policies-path', 'without ".."'],
      [{ 'policy-tool-version': 'newest' }, 'policy-tool-version', 'exact version'],
      [{ global: 'yes' }, 'global', 'true or false'],
    ] as const) {
      const { status, body } = await api.post(all, { name: uniqueName('set'), kind: 'opa', ...input });
      expect([status, body.errors[0].source]).toEqual([422, { pointer: `/data/attributes/${field}` }]);
      expect(body.errors[0].detail).toContain(detail);
    }
    const relationships = { workspaces: list('workspaces', 'ws-unknown') };
    const { body } = await api.post(all, { name: uniqueName('set') }, relationships);
    expect(body.errors[0].source).toEqual({ pointer: '/data/relationships/workspaces' });
  });

  it('is listed by name, kind and whether it has versions', async () => {
    const word = uniqueName('listed');
    const plain = await create({ name: `${word}-b`, kind: 'sentinel' });
    const versioned = await policySetOf(api, { name: `${word}-a` }, policyFiles('deny := []'));
    const search = async (query: string) => ids((await api.get(`${all}?search[name]=${word}${query}`)).body.data);
    expect(await search('')).toEqual([versioned, plain.id]);
    expect(await search('&filter[kind]=sentinel')).toEqual([plain.id]);
    expect(await search('&filter[versioned]=true')).toEqual([versioned]);
    expect(await search('&filter[versioned]=false')).toEqual([plain.id]);
    expect(await search('&page[size]=1&page[number]=2')).toEqual([plain.id]);
  });
});

describe('a policy set version', () => {
  it('is uploaded to its link, and becomes the version of the set', async () => {
    const { id } = await create();
    const response = await api.post(`policy-sets/${id}/versions`);
    expect(response).toMatchObject({
      status: 201,
      body: { data: { attributes: { status: 'pending', source: 'tfe-api' }, links: { upload: expect.any(String) } } },
    });
    const first = response.body.data.id;
    expect((await api.get(`policy-set-versions/${first}`)).body.data.attributes.status).toBe('pending');
    const ready = await uploadVersion(api, id, await packed(policyFiles('deny := []')));
    expect(ready).toMatchObject({
      id: expect.stringMatching(/^polsetver-\w{16}$/),
      attributes: { status: 'ready', error: null, 'status-timestamps': { 'ready-at': expect.any(String) } },
      relationships: { 'policy-set': { data: { type: 'policy-sets', id } } },
    });
    expect(ready.links.upload).toBeUndefined();
    expect(await read(id)).toMatchObject({
      attributes: { versioned: true, 'policy-count': 1 },
      relationships: { 'current-version': { data: { id: ready.id } }, 'newest-version': { data: { id: ready.id } } },
    });
    expect(ids((await api.get(`policy-sets/${id}/versions`)).body.data)).toEqual([ready.id, first]);
  });

  it('is the version of the set although a later one is pending, even if it is not read', async () => {
    const { id } = await create();
    const [first, second] = [
      (await api.post(`policy-sets/${id}/versions`)).body.data,
      (await api.post(`policy-sets/${id}/versions`)).body.data,
    ];
    await fetch(first.links.upload, { method: 'PUT', body: await packed(policyFiles('deny := []')) });
    const { data, included } = (await api.get(`policy-sets/${id}?include=current_version,newest_version`)).body;
    expect([data.relationships['current-version'].data.id, data.relationships['newest-version'].data.id]).toEqual([
      first.id,
      second.id,
    ]);
    const statuses = included.map((one: { id: string; attributes: { status: string } }) => [
      one.id,
      one.attributes.status,
    ]);
    expect(Object.fromEntries(statuses)).toEqual({ [first.id]: 'ready', [second.id]: 'pending' });
  });

  it('that is invalid reports the reason, and the set keeps its version', async () => {
    const { id } = await create();
    const good = await uploadVersion(api, id, await packed(policyFiles('deny := []')));
    for (const [content, message] of [
      [await packed({ 'policies.hcl': 'policy "a" {\n}' }), 'no .rego file'],
      [
        await packed({ ...policyFiles(''), 'policies.hcl': 'policy "a" {\n}' }),
        'policies.hcl line 1: policy "a" has no query',
      ],
      [await packed({ '../a.rego': '' }), 'is outside the policy set'],
      [await packed(policyFiles('deny contains')), 'The policies do not compile: sizes.rego line 3: '],
      [new TextEncoder().encode('no archive'), 'gzip-compressed tar'],
    ] as const) {
      const version = await uploadVersion(api, id, content);
      expect(version.attributes.status).toBe('errored');
      expect(version.attributes['error-message']).toContain(message);
      expect((await read(id)).relationships['current-version'].data.id).toBe(good.id);
    }
  });

  it('cannot be changed by uploading again', async () => {
    const { id } = await create();
    const version = (await api.post(`policy-sets/${id}/versions`)).body.data;
    const put = async (rule: string) =>
      fetch(version.links.upload, { method: 'PUT', body: await packed(policyFiles(rule)) });
    await put('deny := ["first"]');
    await api.get(`policy-set-versions/${version.id}`);
    await put('deny := ["second"]');
    const { getPolicySetVersion, readBundle } = await import('#resources/policies/set-version-records.ts');
    const { bundleKey = '' } = (await getPolicySetVersion(version.id)) ?? {};
    expect(JSON.stringify(await readBundle(bundleKey))).toContain('first');
  });

  it('excludes individual policies, and vice versa', async () => {
    const { id } = await create();
    const policy = { name: uniqueName('p'), kind: 'opa', query: 'q' };
    const ownPolicy = (await api.post('organizations/acme/policies', policy)).body.data;
    const path = `policy-sets/${id}/relationships/policies`;
    await api.call('POST', path, { body: list('policies', ownPolicy.id) });
    expect((await api.post(`policy-sets/${id}/versions`)).status).toBe(409);
    await api.call('DELETE', path, { body: list('policies', ownPolicy.id) });
    expect((await api.post(`policy-sets/${id}/versions`)).status).toBe(201);
    expect((await api.call('POST', path, { body: list('policies', ownPolicy.id) })).status).toBe(422);
  });
});

describe('a parameter', () => {
  it('is created, read, updated and deleted; sensitive values are never returned', async () => {
    const { id } = await create();
    const base = `policy-sets/${id}/parameters`;
    const parameter = (await api.post(base, { key: 'limit', value: '5', category: 'policy-set' })).body.data;
    expect(parameter).toMatchObject({
      type: 'vars',
      attributes: { key: 'limit', value: '5', category: 'policy-set', sensitive: false },
      relationships: { configurable: { data: { type: 'policy-sets', id } } },
    });
    const secret = (await api.post(base, { key: 'token', value: 's3cret', sensitive: true })).body.data;
    expect(secret.attributes.value).toBeNull();
    expect(ids((await api.get(base)).body.data)).toEqual([parameter.id, secret.id]);
    expect((await api.get(`${base}/${parameter.id}`)).body.data).toEqual(parameter);
    expect((await api.patch(`${base}/${parameter.id}`, { value: '6' })).body.data.attributes.value).toBe('6');
    expect((await api.patch(`${base}/${secret.id}`, { sensitive: false })).status).toBe(422);
    expect((await api.patch(`${base}/${secret.id}`, { key: 'other' })).status).toBe(422);
    expect((await api.post(base, { key: 'limit', value: '' })).body.errors[0]).toMatchObject({
      source: { pointer: '/data/attributes/key' },
    });
    expect((await api.post(base, { key: 'env', category: 'env' })).status).toBe(422);
    const { getVariable } = await import('#resources/variables/records.ts');
    const stored = JSON.stringify(await getVariable(id, secret.id));
    expect(stored).toContain('sealed');
    expect(stored).not.toContain('s3cret');
    expect((await api.call('DELETE', `${base}/${parameter.id}`)).status).toBe(204);
    expect((await api.get(`${base}/${parameter.id}`)).status).toBe(404);
  });
});
