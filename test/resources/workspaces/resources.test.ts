import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, startApi } from '#test/support/api.ts';
import { resource, stateFile } from '#test/support/state.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

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
  expect(body.data[2]).toMatchObject({
    id: expect.stringMatching(/^wsr-/),
    type: 'resources',
    attributes: {
      name: 'one',
      module: 'root',
      provider: 'hashicorp/null',
      'provider-type': 'null_resource',
      'name-index': null,
      'modified-by-state-version-id': version,
    },
  });
  expect(body.data[3].attributes).toMatchObject({ module: 'net.sub', 'name-index': 'x' });
});

it('the resource list can be searched, sorted and paged', async () => {
  const { path } = await withState([
    resource('a_type', 'two', 0, { instances: instances(...Array.from({ length: 12 }, (_, n) => n)) }),
    resource('b_type', 'one'),
  ]);
  const list = async (query: string) => {
    const { body } = await api.get(`${path}?${query}`);
    return {
      total: body.meta.pagination['total-count'],
      all: body.data.map(({ attributes }: { attributes: { address: string } }) => attributes.address),
    };
  };
  expect(await list('q=B_TYPE')).toEqual({ total: 1, all: ['b_type.one'] });
  expect(await list('sort=providerType:desc&page[size]=1')).toEqual({ total: 13, all: ['b_type.one'] });
  expect((await list('sort=nameIndex:desc&page[size]=2')).all).toEqual(['a_type.two[11]', 'a_type.two[10]']);
  expect((await api.get(`${path}?sort=weight`)).status).toBe(400);
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
