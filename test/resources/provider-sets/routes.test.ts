import { describe, expect, it } from 'vitest';
import { pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** Provider sets: their input, their scope, and their use in runs (HCP API: provider sets). */

const api = await startApi();
const members = await memberHelpers();

const all = 'organizations/acme/provider-sets';
const aws = '\n  provider "aws" {\n    region = var.my_region\n  }\n';
const values = (change: object = {}) => ({
  name: uniqueName('providers'),
  'provider-source': 'hashicorp/aws',
  'configuration-hcl': aws,
  ...change,
});
const applied = (workspaces: string[] = [], projects: string[] = []) => ({
  workspaces: { data: workspaces.map((id) => ({ type: 'workspaces', id })) },
  projects: { data: projects.map((id) => ({ type: 'projects', id })) },
});
const create = async (change: object = {}, relationships: object = {}) => {
  const { status, body } = await api.post(all, values(change), relationships);
  expect([status, body.errors]).toEqual([201, undefined]);
  return body.data;
};
const idsIn = async (path: string) => (await api.get(path)).body.data.map(({ id }: { id: string }) => id);
const newProject = async () =>
  (await api.post('organizations/acme/projects', { name: uniqueName('Home') })).body.data.id as string;
const workspaceIn = async (project: string) => {
  const home = { project: { data: { type: 'projects', id: project } } };
  return (await api.post('organizations/acme/workspaces', { name: uniqueName('w') }, home)).body.data.id as string;
};

describe('a provider set', () => {
  it.each([`provider "aws" {\n  a = ${'['.repeat(30_000)}\n}\n`, `provider "aws" {\n${'b {\n'.repeat(8_000)}`])(
    'is refused when its configuration is nested too deep (%#)',
    async (configuration) => {
      const { status, body } = await api.post(all, values({ 'configuration-hcl': configuration }));
      expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('200 levels')]);
    },
  );

  it('is created, read by id and by name, changed and deleted', async () => {
    const workspace = (await api.workspace()).id;
    const project = await newProject();
    const { id, attributes, relationships } = await create({ description: 'd' }, applied([workspace], [project]));
    expect(attributes).toMatchObject({
      description: 'd',
      global: false,
      priority: false,
      'provider-source': 'registry.terraform.io/hashicorp/aws',
      'configuration-hcl': aws,
    });
    expect(relationships).toMatchObject(applied([workspace], [project]));
    for (const path of [`provider-sets/${id}`, `${all}/${attributes.name}`]) {
      expect((await api.get(path)).body.data).toMatchObject({ id, attributes, relationships });
    }
    const { body } = await api.get(`provider-sets/${id}?include=workspaces,projects`);
    expect(body.included.map((one: { id: string }) => one.id).sort()).toEqual([project, workspace].sort());
    const azure = 'provider "azurerm" {\n  features {}\n}';
    const changed = await api.patch(`provider-sets/${id}`, { configuration_hcl: azure, name: 'Another one' });
    expect(changed.body.data.attributes).toMatchObject({ 'configuration-hcl': azure, name: 'Another one' });
    expect((await api.get(`${all}/${attributes.name}`)).status).toBe(404);
    const cleared = await api.patch(`provider-sets/${id}`, {}, applied());
    expect(cleared.body.data.relationships).toMatchObject(applied());
    expect((await api.call('DELETE', `provider-sets/${id}`)).status).toBe(204);
    expect((await api.get(`provider-sets/${id}`)).status).toBe(404);
  });

  it('is added to workspaces and projects and removed from them, idempotently', async () => {
    const workspace = (await api.workspace()).id;
    const { id } = await create();
    const body = { data: [{ type: 'workspaces', id: workspace }] };
    for (const method of ['POST', 'POST', 'DELETE', 'DELETE']) {
      expect((await api.call(method, `provider-sets/${id}/relationships/workspaces`, { body })).status).toBe(204);
      expect((await idsIn(`workspaces/${workspace}/provider-sets`)).includes(id)).toBe(method === 'POST');
    }
  });

  it('is deleted together with others, all of them or none', async () => {
    const ids = [(await create()).id, (await create()).id];
    const remove = (...some: string[]) =>
      api.call('DELETE', all, { body: { data: some.map((id) => ({ type: 'provider-sets', id })) } });
    expect((await remove(...ids, 'provset-none')).status).toBe(422);
    expect(await idsIn(`${all}?page[size]=100`)).toEqual(expect.arrayContaining(ids));
    expect((await remove(...ids)).status).toBe(204);
    for (const id of ids) expect((await api.get(`provider-sets/${id}`)).status).toBe(404);
  });

  it.each<[object, string, string]>([
    [{ name: '' }, 'name', 'name'],
    [{ name: 'a/b' }, 'name', 'name'],
    [{ 'provider-source': 'aws' }, 'provider-source', 'hashicorp/aws'],
    [{ 'configuration-hcl': '' }, 'configuration-hcl', 'one provider block'],
    [{ 'configuration-hcl': 'provider "aws" {' }, 'configuration-hcl', 'line 1'],
    [{ 'configuration-hcl': `${aws}\nresource "x" "y" {}` }, 'configuration-hcl', 'one provider block'],
    [{ 'configuration-hcl': 'terraform {}' }, 'configuration-hcl', 'one provider block'],
    [{ 'configuration-hcl': 'provider "aws" {\n alias = "b"\n}' }, 'configuration-hcl', 'alias'],
    [{ 'configuration-hcl': 'provider "aws" {\n region = file("x", data.a.b)\n}' }, 'configuration-hcl', 'data'],
  ])('rejects %j', async (change, field, words) => {
    const { status, body } = await api.post(all, values(change));
    expect([status, body.errors[0].source.pointer]).toEqual([422, `/data/attributes/${field}`]);
    expect(body.errors[0].detail).toContain(words);
  });

  it('may refer to local values, as of the tfe provider’s examples', async () => {
    const text = 'provider "aws" {\n region = local.region\n}';
    expect((await api.post(all, values({ 'configuration-hcl': text }))).status).toBe(201);
  });

  it('has a unique name, and targets in its organization unless it is global', async () => {
    const { id, attributes } = await create();
    expect((await api.post(all, values({ name: attributes.name }))).status).toBe(422);
    const workspace = (await api.workspace()).id;
    const both = await api.post(all, values({ global: true }), applied([workspace]));
    expect(pointerOf(both)).toEqual([422, '/data/relationships/workspaces']);
    const unknown = await api.post(all, values(), applied(['ws-unknown']));
    expect(unknown.body.errors[0].detail).toContain('Invalid Workspaces');
    await api.call('POST', `provider-sets/${id}/relationships/workspaces`, { body: applied([workspace]).workspaces });
    expect((await api.patch(`provider-sets/${id}`, { global: true })).body.data.relationships).toMatchObject(applied());
  });

  it('requires permission to manage all projects; readers of variables see the sets of a workspace', async () => {
    const project = await newProject();
    const workspace = await workspaceIn(project);
    const { id } = await create({}, applied([workspace]));
    const manager = await members.withFlags('acme', 'manage-projects');
    const as = (token: string) => ({ token });
    expect((await api.post(all, values(), {}, as(manager.token))).status).toBe(201);
    const other = await members.withFlags('acme', 'manage-workspaces');
    expect((await api.post(all, values(), {}, as(other.token))).status).toBe(403);
    expect((await api.get(`provider-sets/${id}`, as(other.token))).status).toBe(404);
    const { body } = await api.get(`workspaces/${workspace}/provider-sets`, as(other.token));
    expect(body.data.map((one: { id: string }) => one.id)).toContain(id);
  });
});

describe('the effective set of a workspace', () => {
  it('is the priority set with the widest scope, else the set with the narrowest scope', async () => {
    const project = await newProject();
    const workspace = await workspaceIn(project);
    const make = (priority: boolean, targets: object, global = false) => create({ priority, global }, targets);
    const order = [
      await make(true, {}, true),
      await make(true, applied([], [project])),
      await make(true, applied([workspace])),
      await make(false, applied([workspace])),
      await make(false, applied([], [project])),
      await make(false, {}, true),
    ].map(({ id }) => id);
    const listed = (await idsIn(`workspaces/${workspace}/provider-sets?page[size]=100`)).filter((id: string) =>
      order.includes(id),
    );
    expect(listed).toEqual(order);
    const ofProject = await idsIn(`projects/${project}/provider-sets?page[size]=100`);
    expect(order.filter((id) => ofProject.includes(id))).toEqual([order[0], order[1], order[4], order[5]]);
    for (const id of order) await api.call('DELETE', `provider-sets/${id}`);
  });
});

describe('a run', () => {
  const freeze = async (organization: string, workspace: object) => {
    const { freezeProviderSets, frozenProviderSets } = await import('#resources/provider-sets/effective.ts');
    const { getOrganization } = await import('#resources/organizations/records.ts');
    const { newId } = await import('#platform/store/id.ts');
    const home = await getOrganization(organization);
    const before = api.aws.calls;
    const { providerSetsKey } = await freezeProviderSets(home, workspace as never, newId('run'));
    const calls = api.aws.calls - before;
    return { calls, ...(await frozenProviderSets(providerSetsKey)) };
  };
  const sourceModule = { noCodeId: 'nocode-1', address: 'private/a', version: '1.0.0' };

  it('has one for each provider, with the variables it refers to', async () => {
    const project = await newProject();
    const id = await workspaceIn(project);
    const near = await create({}, applied([id]));
    await create({}, applied([], [project]));
    const nothing = { 'provider-source': 'hashicorp/null', 'configuration-hcl': 'provider "null" {}' };
    await create(nothing, applied([], [project]));
    const { providerSets } = await freeze('acme', { id, organization: 'acme', projectId: project, sourceModule });
    expect(providerSets).toMatchObject([
      {
        name: near.attributes.name,
        source: 'registry.terraform.io/hashicorp/aws',
        configuration: aws,
        localName: 'aws',
        variables: ['my_region'],
      },
      { source: 'registry.terraform.io/hashicorp/null', localName: 'null', variables: [] },
    ]);
  });

  it('reads no provider sets if none can exist', async () => {
    const name = uniqueName('without');
    await api.post('organizations', { name, email: 'a@example.com' });
    const of = { id: 'ws-1', organization: name, projectId: 'prj-1' };
    expect(await freeze(name, { ...of, sourceModule })).toEqual({ calls: 0 });
    await create({ global: true });
    expect(await freeze('acme', { ...of, organization: 'acme' })).toEqual({ calls: 0 });
  });
});
