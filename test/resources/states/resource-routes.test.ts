import { expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { resource, stateFile } from '#test/support/state.ts';

const api = await startApi();

const withState = async (resources: object[]) => {
  const { id } = await api.workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`);
  const { text, ...attributes } = stateFile({ resources });
  const state = Buffer.from(text).toString('base64');
  const response = await api.post(`workspaces/${id}/state-versions`, { ...attributes, state });
  return { path: `workspaces/${id}/resources`, version: response.body.data.id };
};

const instances = (...keys: (string | number)[]) => keys.map((index_key) => ({ index_key, attributes: {} }));

it('the resource list has every managed instance by address', async () => {
  const { path, version } = await withState([
    resource('null_resource', 'one', 1, { provider: 'provider["registry.terraform.io/hashicorp/null"]' }),
    resource('aws_instance', 'web', 0, { module: 'module.net["a"].module.sub', instances: instances('x', 'y') }),
    resource('aws_instance', 'db', 0, { instances: instances(0, 1) }),
    resource('aws_ami', 'found', 1, { mode: 'data' }),
  ]);
  const { body } = await api.get(path);
  expect(body.data.map(({ attributes }: { attributes: { address: string } }) => attributes.address)).toEqual([
    'aws_instance.db[0]',
    'aws_instance.db[1]',
    'null_resource.one',
    'net["a"].sub.aws_instance.web["x"]',
    'net["a"].sub.aws_instance.web["y"]',
  ]);
  const at = (await api.get(`state-versions/${version}`)).body.data.attributes['created-at'];
  expect(body.data[2]).toEqual({
    id: expect.stringMatching(/^wsr-[0-9a-f]{16}$/),
    type: 'resources',
    attributes: {
      address: 'null_resource.one',
      'full-address': 'null_resource.one',
      name: 'one',
      module: 'root',
      provider: 'hashicorp/null',
      'provider-type': 'null_resource',
      'name-index': null,
      'created-at': at,
      'updated-at': at,
      'modified-by-state-version-id': version,
      'depends-on': [],
      tainted: false,
      changes: [{ 'state-version-id': version, 'run-id': null, 'created-at': at }],
    },
  });
  expect(body.data[3].attributes).toMatchObject({ module: 'net.sub', 'name-index': 'x' });
  expect(body.data[0].attributes['name-index']).toBe('0');
});

it('the resource list can be searched, sorted and paged', async () => {
  const { path } = await withState([
    resource('a_type', 'two', 0, { instances: instances(...Array.from({ length: 12 }, (_, n) => n)) }),
    resource('z_type', 'one', 1, { provider: 'provider["registry.terraform.io/x/b"]' }),
    resource('a_type', 'three', 1, { module: 'module.aside', instances: instances('key') }),
  ]);
  const list = async (query: string) => {
    const { body } = await api.get(`${path}?${query}`);
    return {
      total: body.meta.pagination['total-count'],
      all: body.data.map(({ attributes }: { attributes: { address: string } }) => attributes.address),
    };
  };
  expect(await list('q=Z_TYPE')).toEqual({ total: 1, all: ['z_type.one'] });
  expect(await list('sort=providerType:desc&page[size]=1')).toEqual({ total: 14, all: ['z_type.one'] });
  const firstBy = async (sort: string) => (await list(`sort=${sort}&page[size]=1`)).all[0];
  expect((await list('q=two&sort=nameIndex:desc&page[size]=2')).all).toEqual(['a_type.two[11]', 'a_type.two[10]']);
  expect((await list('sort=name&page[size]=4')).all).toEqual([
    'z_type.one',
    'aside.a_type.three["key"]',
    'a_type.two[0]',
    'a_type.two[10]',
  ]);
  expect(await firstBy('nameIndex')).toBe('z_type.one');
  expect(await firstBy('nameIndex:desc')).toBe('aside.a_type.three["key"]');
  expect(await firstBy('module:desc')).toBe('aside.a_type.three["key"]');
  expect(await firstBy('provider:desc')).toBe('z_type.one');
  expect(await firstBy('updatedAt:desc')).toBe('z_type.one');
  for (const sort of ['weight', 'toString', 'name:up'])
    expect((await api.get(`${path}?sort=${sort}`)).status).toBe(400);
});

it('the resource list has the version that changed a resource last', async () => {
  const push = async (workspaceId: string, serial: number, size: number) => {
    const instances = [{ attributes: { size } }];
    const resources = [{ ...resource('a', 'b'), instances }, resource('a', 'same')];
    const { text, ...attributes } = stateFile({ serial, resources });
    const state = Buffer.from(text).toString('base64');
    return (await api.post(`workspaces/${workspaceId}/state-versions`, { ...attributes, state })).body.data;
  };
  const { id } = await api.workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`);
  const [first, last] = [await push(id, 1, 1), await push(id, 2, 2)];
  await push(id, 3, 2);
  const [{ attributes }] = (await api.get(`workspaces/${id}/resources`)).body.data;
  expect(attributes).toMatchObject({
    'created-at': first.attributes['created-at'],
    'updated-at': last.attributes['created-at'],
    'modified-by-state-version-id': last.id,
  });
  const byUpdate = (await api.get(`workspaces/${id}/resources?sort=updatedAt`)).body.data;
  expect(byUpdate.map((one: { attributes: { name: string } }) => one.attributes.name)).toEqual(['same', 'b']);
});

it('the resource list is empty without a state', async () => {
  const { id } = await api.workspace();
  expect((await api.get(`workspaces/${id}/resources`)).body.data).toEqual([]);
});

it('a JSON state that is sent with the state is stored', async () => {
  const { id } = await api.workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`);
  const { text, ...attributes } = stateFile();
  const base64 = (content: string) => Buffer.from(content).toString('base64');
  const push = (json: string) =>
    api.post(`workspaces/${id}/state-versions`, { ...attributes, state: base64(text), 'json-state': json });
  expect((await push(base64('no json'))).body.errors[0].source.pointer).toBe('/data/attributes/json-state');
  const response = await push(base64('{"format_version":"1.0"}'));
  const url = response.body.data.attributes['hosted-json-state-download-url'];
  const answer = await api.get(new URL(url).pathname);
  expect(answer.status).toBe(302);
  expect(await (await fetch(answer.headers.location as string)).json()).toEqual({ format_version: '1.0' });
});
