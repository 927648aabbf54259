import { describe, expect, it } from 'vitest';
import { detailOf, pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { ids } from '#test/support/runs.ts';

const api = await startApi();

const all = 'organizations/acme/varsets';
const create = async (attributes: object = {}, relationships: object = {}) => {
  const answer = await api.post(all, { name: uniqueName('set'), ...attributes }, relationships);
  expect(answer.body.errors).toBeUndefined();
  expect(answer.status).toBe(201);
  return answer.body.data;
};
const list = (type: string, ...of: string[]) => ({ data: of.map((id) => ({ type, id })) });
const newProject = async () =>
  (await api.post('organizations/acme/projects', { name: uniqueName('Project') })).body.data.id;
const read = async (id: string) => (await api.get(`varsets/${id}`)).body.data;

describe('a variable set', () => {
  it('is returned as created, with its scope and variables', async () => {
    const [workspace, project] = [await api.workspace(), await newProject()];
    const set = await create(
      { name: 'shared credentials', description: 'for all', priority: true },
      {
        workspaces: list('workspaces', workspace.id),
        projects: list('projects', project),
        vars: { data: [{ type: 'vars', attributes: { key: 'a', value: 'x', category: 'terraform' } }] },
      },
    );
    expect(set).toMatchObject({
      id: expect.stringMatching(/^varset-\w{16}$/),
      type: 'varsets',
      attributes: {
        name: 'shared credentials',
        description: 'for all',
        global: false,
        priority: true,
        'var-count': 1,
        'workspace-count': 1,
        'project-count': 1,
        permissions: { 'can-update': true },
      },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' } },
        parent: { data: { type: 'organizations', id: 'acme' } },
        workspaces: list('workspaces', workspace.id),
        projects: list('projects', project),
      },
    });
    expect(await read(set.id)).toEqual(set);
    const { included } = (await api.get(`varsets/${set.id}?include=vars,workspaces,projects`)).body;
    expect(included.map(({ type }: { type: string }) => type)).toEqual(['vars', 'workspaces', 'projects']);
    expect((await api.get(`varsets/${set.id}?include=nothing`)).status).toBe(400);
    expect((await api.call('DELETE', `varsets/${set.id}`)).status).toBe(204);
    expect((await api.get(`varsets/${set.id}`)).status).toBe(404);
  });

  it('changes, by PATCH and by POST', async () => {
    const [one, two] = [await api.workspace(), await api.workspace()];
    const { id } = await create({ priority: true }, { workspaces: list('workspaces', one.id) });
    const changed = await api.patch(`varsets/${id}`, { name: 'another name', priority: null });
    expect(changed.body.data.attributes).toMatchObject({ name: 'another name', priority: false });
    await api.post(`varsets/${id}`, { description: 'why' });
    const moved = await api.patch(`varsets/${id}?include=workspaces`, {}, { workspaces: list('workspaces', two.id) });
    expect(ids(moved.body.data.relationships.workspaces.data)).toEqual([two.id]);
    expect(ids(moved.body.included)).toEqual([two.id]);
    expect((await read(id)).attributes).toMatchObject({ name: 'another name', description: 'why' });
    expect(ids((await api.get(`workspaces/${one.id}/varsets`)).body.data)).not.toContain(id);
    const global = await api.patch(`varsets/${id}`, { global: true });
    expect(global.body.data).toMatchObject({ attributes: { global: true, 'workspace-count': 0 } });
    expect(ids((await api.get(`workspaces/${one.id}/varsets`)).body.data)).toContain(id);
    await api.patch(`varsets/${id}`, { global: false });
    expect(ids((await api.get(`workspaces/${two.id}/varsets`)).body.data)).not.toContain(id);
  });

  it('is applied and withdrawn, idempotently', async () => {
    const [workspace, project] = [await api.workspace(), await newProject()];
    const { id } = await create();
    for (const [kind, target] of [
      ['workspaces', workspace.id],
      ['projects', project],
    ] as const) {
      const path = `varsets/${id}/relationships/${kind}`;
      for (const method of ['POST', 'POST', 'DELETE', 'DELETE']) {
        expect((await api.call(method, path, { body: list(kind, target) })).status).toBe(204);
        expect(ids((await read(id)).relationships[kind].data)).toEqual(method === 'POST' ? [target] : []);
      }
      const unknown = await api.call('POST', path, { body: list(kind, 'nothing') });
      expect(detailOf(unknown)).toEqual([422, expect.stringContaining('nothing not found in')]);
    }
  });

  it('of a project stays in it', async () => {
    const project = await newProject();
    const parent = { data: { type: 'projects', id: project } };
    const outside = await api.workspace();
    const inside = await api.post(
      'organizations/acme/workspaces',
      { name: uniqueName('ws') },
      { project: { data: { type: 'projects', id: project } } },
    );
    const refused = await api.post(all, { name: 'p' }, { parent, workspaces: list('workspaces', outside.id) });
    expect(refused.status).toBe(422);
    expect((await api.post(all, { name: 'p', global: true }, { parent })).status).toBe(422);
    const set = await create({ name: 'p' }, { parent, workspaces: list('workspaces', inside.body.data.id) });
    expect(set.relationships.parent).toEqual(parent);
    expect((await api.patch(`varsets/${set.id}`, { global: true })).status).toBe(422);
    expect(ids((await api.get(`projects/${project}/varsets?scope=owned`)).body.data)).toEqual([set.id]);
    await api.call('DELETE', `workspaces/${inside.body.data.id}`);
    expect((await api.call('DELETE', `projects/${project}`)).status).toBe(204);
    expect((await api.get(`varsets/${set.id}`)).status).toBe(404);
  });

  it.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name with a space at its end', { name: 'x ' }, 'name'],
    ['a long name', { name: 'x'.repeat(91) }, 'name'],
    ['a global that is no flag', { name: 'x', global: 'yes' }, 'global'],
  ])('is rejected with %s', async (_, attributes, field) => {
    const answer = await api.post(all, attributes);
    expect(pointerOf(answer)).toEqual([422, `/data/attributes/${field}`]);
  });

  it('that is global has no other scope', async () => {
    const { id } = await create({ global: true });
    const { id: workspaceId } = await api.workspace();
    const answer = await api.call('POST', `varsets/${id}/relationships/workspaces`, {
      body: list('workspaces', workspaceId),
    });
    expect(answer.status).toBe(422);
    await api.call('DELETE', `varsets/${id}`);
  });

  it('has a unique name', async () => {
    const { id } = await create({ name: 'only once' });
    const again = await api.post(all, { name: 'only once' });
    expect(again.body.errors[0]).toMatchObject({ status: '422', detail: 'Name has already been taken' });
    await api.call('DELETE', `varsets/${id}`);
    await create({ name: 'only once' });
  });
});

describe('lists of variable sets', () => {
  it('of the organization are in the order of names, searched and paged', async () => {
    for (const name of ['zebra list', 'alpha list', 'midway list']) await create({ name });
    const { body } = await api.get(`${all}?q=LIST&page[size]=2`);
    expect(body.data.map((set: { attributes: { name: string } }) => set.attributes.name)).toEqual([
      'alpha list',
      'midway list',
    ]);
    expect(body.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': 2 });
  });

  it('of a workspace and of a project contain effective and available sets', async () => {
    const project = await newProject();
    const response = await api.post(
      'organizations/acme/workspaces',
      { name: uniqueName('ws') },
      { project: { data: { type: 'projects', id: project } } },
    );
    const workspace = response.body.data.id;
    const own = await create({ name: 'a own' }, { workspaces: list('workspaces', workspace) });
    const shared = await create({ name: 'b shared' }, { projects: list('projects', project) });
    const global = await create({ name: 'c global', global: true });
    const free = await create({ name: 'd free' });
    const of = async (path: string) => ids((await api.get(`${path}page[size]=100`)).body.data);
    expect(await of(`workspaces/${workspace}/varsets?`)).toEqual([own.id, shared.id, global.id]);
    expect(await of(`projects/${project}/varsets?`)).toEqual([shared.id, global.id]);
    const applicable = await of(`workspaces/${workspace}/applicable-varsets?`);
    expect(applicable).toEqual(expect.arrayContaining([free.id, shared.id]));
    expect(applicable).not.toContain(own.id);
    expect(await of(`${all}?filter[global]=true&`)).toEqual([global.id]);
    expect(await of(`${all}?filter[global]=false&`)).not.toContain(global.id);
    await api.call('DELETE', `varsets/${global.id}`);
  });
});

describe('variables', () => {
  it('of a set are created, read, changed and deleted like a workspace’s', async () => {
    const { id } = await create();
    const base = `varsets/${id}/relationships/vars`;
    const response = await api.post(base, { key: 'password', value: 'hunter2', category: 'env', sensitive: true });
    expect(response.body.data).toMatchObject({
      attributes: { key: 'password', value: null, sensitive: true },
      relationships: { configurable: { data: { type: 'varsets', id } }, varset: { data: { id } } },
    });
    const path = `${base}/${response.body.data.id}`;
    expect((await api.get(path)).body.data).toEqual(response.body.data);
    expect((await api.post(base, { key: 'password', category: 'env' })).status).toBe(422);
    expect((await api.patch(path, { value: 'hunter3' })).status).toBe(200);
    expect(ids((await api.get(base)).body.data)).toEqual([response.body.data.id]);
    expect((await read(id)).relationships.vars.data).toEqual([{ type: 'vars', id: response.body.data.id }]);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await read(id)).attributes['var-count']).toBe(0);
    expect((await api.get(path)).status).toBe(404);
  });

  it('of a workspace are listed with their precedence', async () => {
    const { id: workspace } = await api.workspace();
    const own = await api.post(`workspaces/${workspace}/vars`, { key: 'a', value: 'own', category: 'terraform' });
    const set = await create({}, { workspaces: list('workspaces', workspace) });
    const inSet = await api.post(`varsets/${set.id}/relationships/vars`, {
      key: 'a',
      value: 's',
      category: 'terraform',
    });
    const other = await api.post(`varsets/${set.id}/relationships/vars`, {
      key: 'b',
      value: 's',
      category: 'terraform',
    });
    const { data, included } = (await api.get(`workspaces/${workspace}/all-vars?include=overwritten`)).body;
    expect(ids(data).sort()).toEqual([own.body.data.id, other.body.data.id].sort());
    expect(ids((await api.get(`workspaces/${workspace}/all-vars`)).body.data)).toEqual(ids(data));
    const both: { id: string; relationships: object }[] = [...data, ...included];
    const byId = new Map(both.map((one) => [one.id, one]));
    expect(byId.size).toBe(3);
    expect(byId.get(own.body.data.id)?.relationships).toMatchObject({
      overwritten: { data: [{ id: inSet.body.data.id }] },
      overwriter: { data: null },
    });
    expect(byId.get(inSet.body.data.id)?.relationships).toMatchObject({
      overwriter: { data: { id: own.body.data.id } },
    });
    expect(byId.get(other.body.data.id)?.relationships).toMatchObject({ overwriter: { data: null } });

    const inherited = `workspaces/${workspace}/varsets/${set.id}/relationships/vars`;
    expect(ids((await api.get(inherited)).body.data)).toEqual([inSet.body.data.id, other.body.data.id]);
    expect((await api.get(`${inherited}/${other.body.data.id}`)).body.data.id).toBe(other.body.data.id);
    const elsewhere = await api.workspace();
    expect((await api.get(`workspaces/${elsewhere.id}/varsets/${set.id}/relationships/vars`)).status).toBe(404);
  });

  it('are changed in bulk, all or none', async () => {
    const { id } = await api.workspace();
    const make = async (key: string) =>
      (await api.post(`workspaces/${id}/vars`, { key, value: 'old', category: 'terraform' })).body.data.id;
    const [one, two] = [await make('one'), await make('two')];
    const change = (...data: object[]) => api.call('PATCH', `workspaces/${id}/relationships/vars`, { body: { data } });
    const bad = await change({ id: one, attributes: { value: 'new' } }, { id: two, attributes: { key: 'no key' } });
    expect(pointerOf(bad)).toEqual([422, '/data/1/attributes/key']);
    expect((await api.get(`workspaces/${id}/vars/${one}`)).body.data.attributes.value).toBe('old');
    const good = await change({ id: one, attributes: { value: 'new' } }, { id: two, attributes: { description: 'd' } });
    expect(good.status).toBe(204);
    expect((await api.get(`workspaces/${id}/vars/${one}`)).body.data.attributes.value).toBe('new');
    expect((await change({ id: 'var-unknown', attributes: {} })).status).toBe(422);
  });
});
