import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';

const api = await startApi();

interface Named {
  id: string;
}

describe('tags', () => {
  const bindings = (body: { data: { attributes: { key: string; value: string } }[] }) =>
    Object.fromEntries(body.data.map(({ attributes }) => [attributes.key, attributes.value]));
  const data = (tags: Record<string, string>) => ({
    data: Object.entries(tags).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
  });

  it('are bindings or plain names, which the tfe provider manages apart', async () => {
    const relationships = {
      tags: { data: [{ type: 'tags', attributes: { name: 'net' } }] },
      'tag-bindings': data({ team: 'x' }),
    };
    const response = await api.post('organizations/acme/workspaces', { name: uniqueName('ws') }, relationships);
    const { id, attributes } = response.body.data;
    expect(attributes['tag-names']).toEqual(['net']);
    const read = await api.get(`workspaces/${id}/tag-bindings`);
    expect(bindings(read.body)).toEqual({ team: 'x' });
    expect(read.body.data[0]).toMatchObject({ type: 'tag-bindings', id: expect.stringMatching(/^tb-/) });
    expect(bindings((await api.get(`workspaces/${id}/effective-tag-bindings`)).body)).toEqual({ team: 'x' });
    const changed = await api.patch(`workspaces/${id}`, {}, { 'tag-bindings': data({ other: 'y' }) });
    expect(changed.body.data.attributes['tag-names']).toEqual(['net']);
    await api.call('PATCH', `workspaces/${id}/relationships/tag-bindings`, { body: data({ last: 'z' }) });
    expect((await api.get(`workspaces/${id}`)).body.data.attributes['tag-names']).toEqual(['net']);
    expect(bindings((await api.get(`workspaces/${id}/tag-bindings`)).body)).toEqual({ last: 'z' });
  });

  it('without a value are in both lists once the Terraform CLI has bound them', async () => {
    const relationships = { tags: { data: [{ type: 'tags', attributes: { name: 'net' } }] } };
    const { id } = (await api.post('organizations/acme/workspaces', { name: uniqueName('ws') }, relationships)).body
      .data;
    await api.call('PATCH', `workspaces/${id}/tag-bindings`, { body: data({ net: '' }) });
    expect(bindings((await api.get(`workspaces/${id}/tag-bindings`)).body)).toEqual({ net: '' });
    expect((await api.get(`workspaces/${id}`)).body.data.attributes['tag-names']).toEqual(['net']);
  });

  it('are added by the Terraform CLI, and replaced or added by PATCH', async () => {
    const { id } = await api.workspace();
    const added = await api.call('PATCH', `workspaces/${id}/tag-bindings`, { body: data({ a: '1', b: '' }) });
    expect(added.status).toBe(200);
    expect(bindings(added.body)).toEqual({ a: '1', b: '' });
    const path = `workspaces/${id}/relationships/tag-bindings`;
    expect((await api.call('POST', path, { body: data({ a: '2', c: '3' }) })).status).toBe(204);
    expect(bindings((await api.get(path)).body)).toEqual({ a: '2', b: '', c: '3' });
    expect((await api.call('PATCH', path, { body: data({ d: '4' }) })).status).toBe(204);
    expect(bindings((await api.get(`workspaces/${id}/effective-tag-bindings`)).body)).toEqual({ d: '4' });
    await api.patch(`workspaces/${id}`, {}, { 'tag-bindings': { data: [] } });
    expect((await api.get(path)).body.data).toEqual([]);
  });

  it.each([
    ['workspace', 'tag-bindings', 25, 'tag bindings'],
    ['workspace', 'tags', 50, 'tags'],
    ['project', 'tag-bindings', 25, 'tag bindings'],
  ] as const)('of a %s are limited, even when added one after the other (%s)', async (what, relation, max, kind) => {
    const { id } =
      what === 'workspace'
        ? await api.workspace()
        : (await api.post('organizations/acme/projects', { name: uniqueName('tagged') })).body.data;
    const path = `${what}s/${id}/relationships/${relation}`;
    const some = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, '']));
    const body = (from: number, count: number) =>
      relation === 'tags'
        ? { data: Object.keys(some(from, count)).map((name) => ({ type: 'tags', attributes: { name } })) }
        : data(some(from, count));
    expect((await api.call('POST', path, { body: body(0, max) })).status).toBe(204);
    expect((await api.call('POST', path, { body: body(0, max) })).status).toBe(204);
    const { status, body: answer } = await api.call('POST', path, { body: body(max, 1) });
    expect([status, answer.errors[0].detail]).toEqual([
      422,
      `a ${what} has at most ${max} ${kind}; this would make ${max + 1}`,
    ]);
    const list = relation === 'tags' ? 'relationships/tags?page[size]=100' : 'tag-bindings';
    expect((await api.get(`${what}s/${id}/${list}`)).body.data).toHaveLength(max);
  });

  it('can be listed, added and removed as plain tags, by name or by id', async () => {
    const { id } = await api.workspace();
    const path = `workspaces/${id}/relationships/tags`;
    const tags = (...all: string[]) => ({ data: all.map((name) => ({ type: 'tags', attributes: { name } })) });
    expect((await api.call('POST', path, { body: tags('x', 'y', 'z') })).status).toBe(204);
    const { body } = await api.get(path);
    expect(body.data.map((tag: { attributes: { name: string } }) => tag.attributes.name)).toEqual(['x', 'y', 'z']);
    expect((await api.call('DELETE', path, { body: tags('x') })).status).toBe(204);
    await api.call('DELETE', path, { body: { data: [{ type: 'tags', id: body.data[1].id }] } });
    expect((await api.get(`workspaces/${id}`)).body.data.attributes['tag-names']).toEqual(['z']);
  });

  it('can be named like object properties', async () => {
    const { id } = await api.workspace();
    const keys = ['__proto__', 'constructor', 'toString'];
    const body = { data: keys.map((key) => ({ attributes: { key, value: `${key}.` } })) };
    expect((await api.call('PATCH', `workspaces/${id}/tag-bindings`, { body })).status).toBe(200);
    expect(Object.keys(bindings((await api.get(`workspaces/${id}/tag-bindings`)).body))).toEqual(
      expect.arrayContaining(['constructor', 'toString']),
    );
    const match = await api.get('organizations/acme/workspaces?search[tags]=__proto__,toString');
    expect(match.body.data.map((one: Named) => one.id)).toEqual([id]);
  });

  it.each(['', ' x', 'a\u0000', 'x'.repeat(129), 'a\nb'])('cannot be named %j', async (key) => {
    const { id } = await api.workspace();
    const answer = await api.call('PATCH', `workspaces/${id}/tag-bindings`, { body: data({ [key]: '' }) });
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0].source.pointer).toBe('/data/0/attributes/key');
  });
});
