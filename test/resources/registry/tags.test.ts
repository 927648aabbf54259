import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

const api = await startApi();
const members = await memberHelpers();

const module = () => ({
  collection: 'registry-modules',
  input: { name: uniqueName('vpc'), provider: 'aws', 'registry-name': 'private' },
});
const provider = () => ({
  collection: 'registry-providers',
  input: { name: uniqueName('thing'), namespace: 'acme', 'registry-name': 'private' },
});
type Kind = typeof module | typeof provider;

const newEntry = async (kind: Kind) => {
  const { collection, input } = kind();
  const { status, body } = await api.post(`organizations/acme/${collection}`, input);
  expect(status).toBe(201);
  const { id, links } = body.data;
  return { path: links.self.replace('/api/v2/', ''), tags: `${collection}/${id}/tag-bindings` };
};

const bindings = (...tags: [key: string, value?: string][]) => ({
  'tag-bindings': { data: tags.map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })) },
});

const change = (path: string, relationships: object, token = api.token) =>
  api.call('PATCH', path, { token, body: { data: { relationships } } });

const tagsAt = async (path: string) =>
  (await api.get(path)).body.data.map(({ attributes: { key, value } }: never) => [key, value]);

describe.each<[string, Kind]>([
  ['module', module],
  ['provider', provider],
])('tags of a %s', (_, kind) => {
  it('are replaced together, and removed by an empty list', async () => {
    const { path, tags } = await newEntry(kind);
    expect(await tagsAt(tags)).toEqual([]);
    expect((await change(path, bindings(['env', 'production'], ['team']))).status).toBe(200);
    expect(await tagsAt(tags)).toEqual([
      ['env', 'production'],
      ['team', ''],
    ]);
    expect((await change(path, bindings(['env', 'test'], ['env', 'staging']))).status).toBe(200);
    expect(await tagsAt(tags)).toEqual([['env', 'staging']]);
    expect((await change(path, bindings())).status).toBe(200);
    expect(await tagsAt(tags)).toEqual([]);
  });

  it('stay when the whole document is sent back', async () => {
    const { path, tags } = await newEntry(kind);
    await change(path, bindings(['env', 'production']));
    const { data } = (await api.get(path)).body;
    expect(data.relationships['tag-bindings'].links.related).toBe(`/api/v2/${tags}`);
    const { status } = await api.call('PATCH', path, { body: { data } });
    expect([status, await tagsAt(tags)]).toEqual([200, [['env', 'production']]]);
  });

  it('are refused with the field when there are too many', async () => {
    const { path, tags } = await newEntry(kind);
    const many = Array.from({ length: 26 }, (_, n): [string] => [`key-${n}`]);
    const { status, body } = await change(path, bindings(...many));
    expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/relationships/tag-bindings/data']);
    expect(await tagsAt(tags)).toEqual([]);
  });

  it('are changed only with permission to publish, and hidden from other organizations', async () => {
    const { path, tags } = await newEntry(kind);
    const reader = await members.withFlags('acme', 'read-projects');
    const stranger = await members.newUser(uniqueName('stranger'));
    expect((await change(path, bindings(['env']), reader.token)).status).toBe(403);
    expect((await api.get(tags, { token: reader.token })).status).toBe(200);
    expect((await api.get(tags, { token: stranger.token })).status).toBe(404);
  });
});
