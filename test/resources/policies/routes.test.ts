import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { policyFiles, policySetOf } from '#test/support/policies.ts';
import { ids } from '#test/support/runs.ts';

const api = await startApi();
const { maxPolicyBytes } = await import('#resources/policies/records.ts');

const all = 'organizations/acme/policies';
const create = async (attributes: object = {}, relationships: object = {}) => {
  const attributesOf = { name: uniqueName('policy'), kind: 'opa', query: 'data.terraform.deny', ...attributes };
  const answer = await api.post(all, attributesOf, relationships);
  expect(answer.body.errors).toBeUndefined();
  expect(answer.status).toBe(201);
  return answer.body.data;
};
const errorOf = async (path: string, attributes: object, method: 'post' | 'patch' = 'post') => {
  const { status, body } = await api[method](path, attributes);
  return { status, ...body.errors?.[0] };
};

describe('a policy', () => {
  it('is returned as created', async () => {
    const policy = await create({ description: 'why', 'enforcement-level': 'mandatory' });
    expect(policy).toMatchObject({
      id: expect.stringMatching(/^pol-\w{16}$/),
      type: 'policies',
      attributes: {
        kind: 'opa',
        query: 'data.terraform.deny',
        description: 'why',
        'enforcement-level': 'mandatory',
        'policy-set-count': 0,
      },
      relationships: { organization: { data: { type: 'organizations', id: 'acme' } }, 'policy-sets': { data: [] } },
    });
    // Empty before its file is uploaded.
    expect(policy.attributes.enforce).toEqual([]);
    expect((await api.get(`policies/${policy.id}`)).body.data).toEqual(policy);
  });

  it('defaults to an advisory Sentinel policy; "enforce" is understood', async () => {
    const policy = (await api.post(all, { name: uniqueName('p'), query: 'a.deny' })).body.data;
    expect(policy.attributes).toMatchObject({ kind: 'sentinel', query: 'a.deny', 'enforcement-level': 'advisory' });
    const old = { name: uniqueName('p'), enforce: [{ path: 'x.sentinel', mode: 'hard-mandatory' }] };
    expect((await api.post(all, old)).body.data.attributes['enforcement-level']).toBe('hard-mandatory');
  });

  it('in Sentinel has no query; one in Rego keeps it, also in a set of kind sentinel', async () => {
    const queryOf = async (source: string) => {
      const { id } = (await api.post(all, { name: uniqueName('p') })).body.data;
      await api.call('PUT', `policies/${id}/upload`, { body: source });
      return (await api.patch(`policies/${id}`, { query: 'data.a.deny' })).body.data.attributes.query;
    };
    expect(await queryOf('main = rule { true }')).toBeNull();
    expect(await queryOf('# deny\npackage a\ndeny if false')).toBe('data.a.deny');
  });

  it('can be changed and deleted', async () => {
    const { id, attributes } = await create();
    const changed = await api.patch(`policies/${id}`, { query: 'data.b.deny', 'enforcement-level': 'mandatory' });
    expect(changed.body.data.attributes).toMatchObject({
      name: attributes.name,
      query: 'data.b.deny',
      'enforcement-level': 'mandatory',
    });
    expect((await api.call('DELETE', `policies/${id}`)).status).toBe(204);
    expect((await api.get(`policies/${id}`)).status).toBe(404);
    expect((await create({ name: attributes.name })).id).not.toBe(id);
  });

  it('can be uploaded and downloaded', async () => {
    const { id } = await create();
    expect((await api.get(`policies/${id}/download`)).status).toBe(404);
    const source = 'package terraform\n# é\ndeny := []\n';
    const headers = { 'content-type': 'application/octet-stream' };
    const uploaded = await api.call('PUT', `policies/${id}/upload`, { body: source, headers, base64: true });
    expect([uploaded.status, uploaded.body.data.id]).toEqual([200, id]);
    const { status, body } = await api.get(`policies/${id}/download`);
    expect([status, body]).toEqual([200, source]);
    const large = await api.call('PUT', `policies/${id}/upload`, { body: 'x'.repeat(maxPolicyBytes + 1) });
    expect([large.status, large.body.errors[0].status]).toEqual([413, '413']);
  });

  it('keeps its source if the uploaded one does not compile', async () => {
    const { id } = await create();
    const upload = (body: string) => api.call('PUT', `policies/${id}/upload`, { body });
    const good = 'package terraform\ndeny := []\n';
    expect((await upload(good)).body.data.attributes['uncompiled-reason']).toBeNull();
    for (const [source, detail] of [
      ['package terraform\ndeny contains', 'The policy does not compile: policy.rego line 2: '],
      ['package terraform\ndeny := http.send({})', 'undefined function http.send'],
      ['', 'empty module'],
      ['package terraform\ndeny[x] { x := http.send({}) }', 'This is Rego from before OPA 1.0'],
      [Buffer.from([0xff, 0xfe]).toString('latin1'), 'policy.rego line 1: '],
    ] as const) {
      const { status, body } = await upload(source);
      expect([status, body.errors[0].source]).toEqual([422, { pointer: '/' }]);
      expect(body.errors[0].detail).toContain(detail);
    }
    const { id: other } = await create({ query: 'data.terraform..deny' });
    const { body } = await api.call('PUT', `policies/${other}/upload`, { body: good });
    expect(body.errors[0].detail).toContain('compile: query data.terraform..deny: ');
    expect((await api.get(`policies/${id}/download`)).body).toBe(good);
  });

  it('keeps a query that does not compile, with the reason, only while it is in no policy set', async () => {
    const { id } = await create();
    await api.call('PUT', `policies/${id}/upload`, { body: 'package terraform\ndeny := []\n' });
    const change = (query: string) => api.patch(`policies/${id}`, { query });
    // An example of HCP's documentation.
    const changed = await change('terraform.main');
    expect(changed.body.data.attributes).toMatchObject({
      query: 'terraform.main',
      'uncompiled-reason': expect.stringContaining('query: does not compile: query terraform.main: '),
    });
    const add = () => {
      const policies = { data: [{ type: 'policies', id }] };
      return api.post('organizations/acme/policy-sets', { name: uniqueName('set'), kind: 'opa' }, { policies });
    };
    expect((await add()).body.errors[0]).toMatchObject({
      status: '422',
      detail: expect.stringContaining('query terraform.main: '),
    });
    expect((await change('data.terraform.deny')).body.data.attributes['uncompiled-reason']).toBeNull();
    expect((await add()).status).toBe(201);
    const refused = await change('data.terraform..deny');
    expect(refused.body.errors[0]).toMatchObject({
      status: '422',
      source: { pointer: '/data/attributes/query' },
      detail: expect.stringContaining('does not compile: query data.terraform..deny: '),
    });
    expect((await api.get(`policies/${id}`)).body.data.attributes.query).toBe('data.terraform.deny');
  });

  it('is compiled in the language of each of its policy sets', async () => {
    const { id } = await create();
    const old = 'package terraform\ndeny[msg] { msg := "x" }';
    const upload = async () => (await api.call('PUT', `policies/${id}/upload`, { body: old })).status;
    const policies = { data: [{ type: 'policies', id }] };
    const setOf = (version: string) => {
      const attributes = { name: uniqueName('set'), kind: 'opa', 'policy-tool-version': version };
      return api.post('organizations/acme/policy-sets', attributes, { policies });
    };
    // Clients upload a policy before they create its first set, which decides.
    expect(await upload()).toBe(200);
    const { id: set } = (await setOf('0.44.0')).body.data;
    expect(await upload()).toBe(200);
    const at = '/data/relationships/policies';
    expect((await setOf('latest')).body.errors[0]).toMatchObject({ status: '422', source: { pointer: at } });
    const newer = { 'policy-tool-version': 'latest' };
    const updated = await api.patch(`policy-sets/${set}`, newer);
    const pointer = '/data/attributes/policy-tool-version';
    expect(updated.body.errors[0]).toMatchObject({ status: '422', source: { pointer } });
    const empty = (await api.post('organizations/acme/policy-sets', { name: uniqueName('set'), kind: 'opa' })).body
      .data;
    const added = await api.call('POST', `policy-sets/${empty.id}/relationships/policies`, { body: policies });
    expect(added.body.errors[0].detail).toContain('The policies do not compile in this set: ');
    await api.call('PUT', `policies/${id}/upload`, { body: 'package terraform\ndeny := []' });
    expect((await api.patch(`policy-sets/${set}`, newer)).status).toBe(200);
    expect((await api.call('POST', `policy-sets/${empty.id}/relationships/policies`, { body: policies })).status).toBe(
      204,
    );
  });

  it('is accepted without an engine, and shows that it was not compiled', async () => {
    const { id } = await create({ kind: 'sentinel' });
    const upload = (body: string) => api.call('PUT', `policies/${id}/upload`, { body });
    const sentinel = await upload('main = rule { true }');
    expect(sentinel.body.data.attributes['uncompiled-reason']).toContain('Sentinel policies are compiled only in runs');
    const rego = await upload('package terraform\ndeny := []');
    expect(rego.body.data.attributes['uncompiled-reason']).toBeNull();
    process.env.COMPILE_POLICIES_FUNCTION = '';
    try {
      const { status, body } = await upload('package terraform\ndeny contains');
      expect(status).toBe(200);
      expect(body.data.attributes['uncompiled-reason']).toBe('the platform could not compile it');
    } finally {
      process.env.COMPILE_POLICIES_FUNCTION = 'CompilePoliciesFunction';
    }
  });

  it('is rejected for invalid fields', async () => {
    const { attributes } = await create();
    const name = uniqueName('p');
    for (const [input, pointer, detail] of [
      [{ name: attributes.name, kind: 'opa', query: 'q' }, '/data/attributes/name', 'already been taken'],
      [{ kind: 'opa', query: 'q' }, '/data/attributes/name', 'is missing'],
      [{ name: 'a b', kind: 'opa', query: 'q' }, '/data/attributes/name', 'letters, digits'],
      [{ name, kind: 'opa' }, '/data/attributes/query', 'data.terraform.deny'],
      [{ name, kind: 'cedar' }, '/data/attributes/kind', 'must be one of "opa", "sentinel"'],
      [
        { name, kind: 'opa', query: 'q', 'enforcement-level': 'hard-mandatory' },
        '/data/attributes/enforcement-level',
        'one of advisory, mandatory',
      ],
      [{ name, enforce: [{ mode: 'mandatory' }] }, '/data/attributes/enforce/0/mode', 'soft-mandatory'],
    ] as const) {
      const error = await errorOf(all, input);
      expect(error).toMatchObject({ status: '422', source: { pointer } });
      expect(error.detail).toContain(detail);
    }
  });

  it('is listed by name, by kind, and by page', async () => {
    const word = uniqueName('listed');
    const rego = await create({ name: `${word}-b` });
    const sentinel = await create({ name: `${word}-a`, kind: 'sentinel' });
    const list = async (query: string) =>
      ids((await api.get(`${all}?search[name]=${word.toUpperCase()}${query}`)).body.data);
    expect(await list('')).toEqual([sentinel.id, rego.id]);
    expect(await list('&filter[kind]=opa')).toEqual([rego.id]);
    expect(await list('&page[size]=1&page[number]=2')).toEqual([rego.id]);
    expect((await api.get(`${all}?search[name]=${word}`)).body.meta.pagination['total-count']).toBe(2);
  });
});

describe('a policy in policy sets', () => {
  it('is related from both sides, and leaves them when it is deleted', async () => {
    const sets = 'organizations/acme/policy-sets';
    const one = (await api.post(sets, { name: uniqueName('set'), kind: 'opa' })).body.data;
    const policy = await create({}, { 'policy-sets': { data: [{ type: 'policy-sets', id: one.id }] } });
    const other = await create();
    const both = { data: [policy, other].map(({ id }) => ({ type: 'policies', id })) };
    const path = `policy-sets/${one.id}/relationships/policies`;
    for (const _ of [1, 2]) expect((await api.call('POST', path, { body: both })).status).toBe(204);
    const set = async () => (await api.get(`policy-sets/${one.id}?include=policies`)).body;
    expect((await set()).data.attributes['policy-count']).toBe(2);
    expect(ids((await set()).included).sort()).toEqual([policy.id, other.id].sort());
    expect((await api.get(`policies/${other.id}`)).body.data.attributes['policy-set-count']).toBe(1);
    await api.call('DELETE', `policies/${policy.id}`);
    expect(ids((await set()).data.relationships.policies.data)).toEqual([other.id]);
    for (const _ of [1, 2]) expect((await api.call('DELETE', path, { body: both })).status).toBe(204);
    expect((await api.get(`policies/${other.id}`)).body.data.relationships['policy-sets'].data).toEqual([]);
  });

  it('must have the kind of the set', async () => {
    const set = (await api.post('organizations/acme/policy-sets', { name: uniqueName('set') })).body.data;
    const { id } = await create();
    const body = { data: [{ type: 'policies', id }] };
    const refused = await api.call('POST', `policy-sets/${set.id}/relationships/policies`, { body });
    expect(refused.body.errors[0]).toMatchObject({ status: '422', source: { pointer: '/data' } });
    expect(refused.body.errors[0].detail).toContain(`policy ${id} of kind sentinel`);
  });

  it('is not created when one of its policy sets refuses it', async () => {
    const sets = 'organizations/acme/policy-sets';
    const fitting = (await api.post(sets, { name: uniqueName('set'), kind: 'opa' })).body.data;
    const ofAnotherKind = (await api.post(sets, { name: uniqueName('set') })).body.data;
    const withVersions = await policySetOf(api, { kind: 'opa' }, policyFiles('deny := []'));
    for (const [id, reason] of [
      [ofAnotherKind.id, 'is of kind sentinel, not opa'],
      [withVersions, 'gets its policies from uploaded versions'],
    ]) {
      const name = uniqueName('refused');
      const related = [fitting.id, id].map((one) => ({ type: 'policy-sets', id: one }));
      const refused = await api.post(
        all,
        { name, kind: 'opa', query: 'data.terraform.deny' },
        { 'policy-sets': { data: related } },
      );
      expect(refused.body.errors[0]).toMatchObject({
        status: '422',
        source: { pointer: '/data/relationships/policy-sets' },
        detail: expect.stringContaining(reason),
      });
      expect((await api.get(`${all}?search[name]=${name}`)).body.data).toEqual([]);
    }
    expect((await api.get(`policy-sets/${fitting.id}`)).body.data.attributes['policy-count']).toBe(0);
  });
});
