import { beforeAll, describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';

const api = await startApi();

const reserved = 'organizations/acme/reserved-tag-keys';
const reserve = (attributes: object) => api.post(reserved, attributes);
const detailOf = ({ status, body }: { status: number; body: { errors: { detail: string }[] } }) =>
  `${status} ${body.errors[0]?.detail}`;
const bindings = (tags: Record<string, string>) => ({
  data: Object.entries(tags).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
});

describe('reserved tag keys', () => {
  it('are created, listed, changed and deleted', async () => {
    const { data: reservedKey } = (await reserve({ key: 'cost-center', 'disable-overrides': true })).body;
    expect(reservedKey).toMatchObject({
      id: expect.stringMatching(/^rtk-/),
      type: 'reserved-tag-keys',
      attributes: { key: 'cost-center', 'disable-overrides': true, 'created-at': expect.stringMatching(/Z$/) },
    });
    expect((await api.get(reserved)).body.data).toContainEqual(reservedKey);
    const changed = await api.patch(`reserved-tag-keys/${reservedKey.id}`, { key: 'team', 'disable-overrides': null });
    expect(changed.body.data.attributes).toMatchObject({ key: 'team', 'disable-overrides': false });
    expect((await reserve({ key: 'cost-center' })).status).toBe(201);
    expect((await api.call('DELETE', `reserved-tag-keys/${reservedKey.id}`)).status).toBe(204);
    expect((await api.call('DELETE', `reserved-tag-keys/${reservedKey.id}`)).status).toBe(404);
    expect((await reserve({ key: 'team' })).status).toBe(201);
  });

  it('are refused when the key is taken or no tag may have it', async () => {
    await reserve({ key: 'taken' });
    const { id } = (await reserve({ key: 'other' })).body.data;
    expect(detailOf(await reserve({ key: 'taken' }))).toBe('422 Key has already been taken');
    expect(detailOf(await api.patch(`reserved-tag-keys/${id}`, { key: 'taken' }))).toBe(
      '422 Key has already been taken',
    );
    expect(detailOf(await reserve({ key: '! / nope' }))).toMatch(/^422 Key is invalid/);
    expect((await api.get(`${reserved}?page[size]=100`)).body.data).toContainEqual(
      expect.objectContaining({ id, attributes: expect.objectContaining({ key: 'other' }) }),
    );
  });
});

describe('a reserved tag key that disables overrides', () => {
  const key = 'env';
  let project: string;
  beforeAll(async () => {
    await reserve({ key, 'disable-overrides': true });
    const relationships = { 'tag-bindings': bindings({ [key]: 'prod', owner: 'me' }) };
    const response = await api.post('organizations/acme/projects', { name: uniqueName('Tagged') }, relationships);
    project = response.body.data.id;
  });
  const inProject = { get: () => ({ project: { data: { type: 'projects', id: project } } }) };
  const refused = /^422 tag-bindings: the tag key env is reserved/;

  it('keeps workspaces from giving the inherited tag another value, in any request', async () => {
    const create = (tags: Record<string, string>) =>
      api.post(
        'organizations/acme/workspaces',
        { name: uniqueName('ws') },
        { ...inProject.get(), 'tag-bindings': bindings(tags) },
      );
    expect(detailOf(await create({ [key]: 'test' }))).toMatch(refused);
    const response = await create({ [key]: 'prod', owner: 'you', other: 'x' });
    expect(response.status).toBe(201);
    const { id } = response.body.data;
    const paths: [string, string][] = [
      ['PATCH', `workspaces/${id}/tag-bindings`],
      ['POST', `workspaces/${id}/relationships/tag-bindings`],
      ['PATCH', `workspaces/${id}/relationships/tag-bindings`],
    ];
    for (const [method, path] of paths) {
      expect(detailOf(await api.call(method, path, { body: bindings({ [key]: 'test' }) }))).toMatch(refused);
    }
    expect(detailOf(await api.patch(`workspaces/${id}`, {}, { 'tag-bindings': bindings({ [key]: 'test' }) }))).toMatch(
      refused,
    );
    const { data } = (await api.get(`workspaces/${id}/tag-bindings`)).body;
    expect(data.map(({ attributes }: { attributes: { key: string; value: string } }) => attributes)).toMatchObject([
      { key: 'env', value: 'prod' },
      { key: 'owner', value: 'you' },
      { key: 'other', value: 'x' },
    ]);
  });

  it('keeps workspaces with another value out of the project', async () => {
    const { id } = await api.workspace();
    await api.call('PATCH', `workspaces/${id}/tag-bindings`, { body: bindings({ [key]: 'test' }) });
    const home = (await api.get(`workspaces/${id}`)).body.data.relationships.project.data.id;
    expect(detailOf(await api.patch(`workspaces/${id}`, {}, inProject.get()))).toMatch(refused);
    const moved = await api.call('POST', `projects/${project}/relationships/workspaces`, {
      body: { data: [{ type: 'workspaces', id }] },
    });
    expect(detailOf(moved)).toMatch(refused);
    expect((await api.get(`workspaces/${id}`)).body.data.relationships.project.data.id).toBe(home);
  });
});
