import { describe, expect, it } from 'vitest';
import { detailOf, pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { ids, runHelpers } from '#test/support/runs.ts';
import { resource, stateFile } from '#test/support/state.ts';

const api = await startApi();

const newProject = async (attributes: object = {}, relationships: object = {}, organization = 'acme') => {
  const path = `organizations/${organization}/projects`;
  const response = await api.post(path, { name: uniqueName('Project'), ...attributes }, relationships);
  expect(response.body.errors).toBeUndefined();
  return response.body.data;
};
const inProject = (id: string) => ({ project: { data: { type: 'projects', id } } });
const newWorkspace = async (project: string, attributes: object = {}, organization = 'acme') =>
  (
    await api.post(
      `organizations/${organization}/workspaces`,
      { name: uniqueName('ws'), ...attributes },
      inProject(project),
    )
  ).body.data;
const tags = (...all: [string, string][]) => ({
  data: all.map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
});
const pairs = (data: { attributes: { key: string; value: string } }[]) =>
  data.map(({ attributes: { key, value } }) => [key, value]);

describe('tags of a project', () => {
  it('are added, replaced and listed', async () => {
    const { id } = await newProject({}, { 'tag-bindings': tags(['team', 'net']) });
    const path = `projects/${id}/relationships/tag-bindings`;
    const listed = async () => {
      const { data } = (await api.get(`projects/${id}/tag-bindings`)).body;
      expect((await api.get(path)).body.data).toEqual(data);
      return pairs(data);
    };
    expect(await listed()).toEqual([['team', 'net']]);
    expect((await api.call('POST', path, { body: tags(['tier', '1']) })).status).toBe(204);
    expect(await listed()).toEqual([
      ['team', 'net'],
      ['tier', '1'],
    ]);
    const added = await api.call('PATCH', `projects/${id}/tag-bindings`, { body: tags(['tier', '2']) });
    expect(pairs(added.body.data)).toEqual([
      ['team', 'net'],
      ['tier', '2'],
    ]);
    expect((await api.call('PATCH', path, { body: tags(['only', '']) })).status).toBe(204);
    expect(await listed()).toEqual([['only', '']]);
    expect(pairs((await api.get(`projects/${id}/effective-tag-bindings`)).body.data)).toEqual([['only', '']]);
    expect((await api.call('PATCH', path, { body: { data: [{ attributes: { key: '' } }] } })).status).toBe(422);
  });

  it('are inherited by its workspaces, unless these have their own', async () => {
    const { id } = await newProject({}, { 'tag-bindings': tags(['team', 'net'], ['tier', '1']) });
    const workspace = await newWorkspace(id);
    await api.call('PATCH', `workspaces/${workspace.id}/tag-bindings`, { body: tags(['tier', 'own']) });
    const effective = (await api.get(`workspaces/${workspace.id}/effective-tag-bindings`)).body.data;
    expect(pairs(effective)).toEqual([
      ['tier', 'own'],
      ['team', 'net'],
    ]);
    expect(effective.map((one: { relationships: object }) => one.relationships)).toMatchObject([
      { 'inherited-from': { data: null } },
      { 'inherited-from': { data: { type: 'projects', id } } },
    ]);
    expect(effective.map(({ links }: { links?: object }) => links)).toEqual([
      undefined,
      { 'inherited-from': `/api/v2/projects/${id}` },
    ]);
    const find = async (query: string) => ids((await api.get(`organizations/acme/workspaces?${query}`)).body.data);
    expect(await find('filter[tagged][0][key]=team&filter[tagged][0][value]=net')).toEqual([workspace.id]);
    expect(await find('filter[tagged][0][key]=tier&filter[tagged][0][value]=1')).toEqual([]);
    const read = (await api.get(`workspaces/${workspace.id}?include=effective_tag_bindings,project`)).body;
    expect(read.data.relationships['effective-tag-bindings'].data).toHaveLength(2);
    expect(read.included.map(({ type }: { type: string }) => type)).toEqual([
      'projects',
      'effective-tag-bindings',
      'effective-tag-bindings',
    ]);
  });
});

describe('execution modes', () => {
  const mode = async (id: string) => {
    const { attributes } = (await api.get(`workspaces/${id}`)).body.data;
    return [attributes['execution-mode'], attributes['setting-overwrites']['execution-mode']];
  };
  const organization = async () => {
    const name = uniqueName('modes');
    const response = await api.post('organizations', { name, email: 'x@y.test' });
    return { name, project: response.body.data.relationships['default-project'].data.id };
  };

  it('are inherited from the organization, unless the project or workspace has its own', async () => {
    const { name, project } = await organization();
    const own = await newProject({ 'default-execution-mode': 'remote' }, {}, name);
    expect(own.attributes['setting-overwrites']).toMatchObject({ 'default-execution-mode': true });
    const following = await newWorkspace(project, {}, name);
    const fixed = await newWorkspace(project, { 'execution-mode': 'remote' }, name);
    const ofProject = await newWorkspace(own.id, {}, name);
    await api.patch(`organizations/${name}`, { 'default-execution-mode': 'local' });
    expect(await mode(following.id)).toEqual(['local', false]);
    expect(await mode(fixed.id)).toEqual(['remote', true]);
    expect(await mode(ofProject.id)).toEqual(['remote', false]);
    expect(await mode((await newWorkspace(project, {}, name)).id)).toEqual(['local', false]);
    expect(await mode((await newWorkspace(own.id, {}, name)).id)).toEqual(['remote', false]);

    expect((await api.get(`projects/${own.id}`)).body.data.attributes['default-execution-mode']).toBe('remote');
    const back = await api.patch(`projects/${own.id}`, { 'setting-overwrites': { 'default-execution-mode': false } });
    expect(back.body.data.attributes).toMatchObject({
      'default-execution-mode': 'local',
      'setting-overwrites': { 'default-execution-mode': false },
    });
    expect(await mode(ofProject.id)).toEqual(['local', false]);
  });

  it('follow the settings of the workspace, and change with its project', async () => {
    const [local, remote] = [
      await newProject({ 'default-execution-mode': 'local' }),
      await newProject({ 'default-execution-mode': 'remote' }),
    ];
    const { id } = await newWorkspace(local.id, { 'execution-mode': 'remote' });
    expect(await mode(id)).toEqual(['remote', true]);
    await api.patch(`workspaces/${id}`, { 'setting-overwrites': { 'execution-mode': false } });
    expect(await mode(id)).toEqual(['local', false]);
    await api.patch(`workspaces/${id}`, {}, inProject(remote.id));
    expect(await mode(id)).toEqual(['remote', false]);
    const move = { data: [{ type: 'workspaces', id }] };
    expect((await api.call('POST', `projects/${local.id}/relationships/workspaces`, { body: move })).status).toBe(204);
    expect(await mode(id)).toEqual(['local', false]);
    await api.patch(`workspaces/${id}`, { operations: true });
    expect(await mode(id)).toEqual(['remote', true]);
  });
});

describe('moving workspaces', () => {
  it('moves all of them or none', async () => {
    const [from, to] = [await newProject(), await newProject()];
    const [a, b] = [await newWorkspace(from.id), await newWorkspace(from.id)];
    const path = `projects/${to.id}/relationships/workspaces`;
    const bad = await api.call('POST', path, { body: { data: [{ id: a.id }, { id: 'ws-unknown' }] } });
    expect(pointerOf(bad)).toEqual([422, '/data/1/id']);
    await api.call('POST', path, { body: { data: [{ id: a.id }, { id: b.id }] } });
    const match = await api.get(`organizations/acme/workspaces?filter[project][id]=${to.id}`);
    expect(ids(match.body.data).sort()).toEqual([a.id, b.id].sort());
  });
});

describe('settings that this platform does not support', () => {
  it.each([['organizations/acme', { 'collaborator-auth-policy': 'two_factor_mandatory' }]])(
    'are rejected, not ignored: %s %j',
    async (path, attributes) => {
      expect((await api.patch(path, attributes)).status).toBe(422);
      const harmless = { 'collaborator-auth-policy': 'password', 'assessments-enforced': false };
      expect((await api.patch(path, harmless)).status).toBe(200);
      expect((await api.call('PUT', path, { body: { data: { attributes: harmless } } })).status).toBe(200);
    },
  );
});

describe('deleting a workspace that manages resources', () => {
  it('requires an owner, or an admin where the organization allows it', async () => {
    const help = await runHelpers(api);
    const admin = await help.user('admin');
    const { id } = await api.workspace();
    await api.call('POST', `workspaces/${id}/actions/lock`);
    const { text, ...attributes } = stateFile({ resources: [resource('null_resource', 'a')] });
    await api.post(`workspaces/${id}/state-versions`, { ...attributes, state: Buffer.from(text).toString('base64') });
    await api.call('POST', `workspaces/${id}/actions/unlock`);
    const refused = await api.call('DELETE', `workspaces/${id}`, { token: admin.token });
    expect(detailOf(refused)).toEqual([403, expect.stringContaining('1 resources')]);
    const empty = await api.workspace();
    expect((await api.call('DELETE', `workspaces/${empty.id}`, { token: admin.token })).status).toBe(204);
    await api.patch('organizations/acme', { 'allow-force-delete-workspaces': true });
    expect((await api.call('DELETE', `workspaces/${id}`, { token: admin.token })).status).toBe(204);
  });
});

describe('includes of a workspace', () => {
  it('return the holder of its lock, its state and its outputs', async () => {
    const { id } = await api.workspace();
    await api.call('POST', `workspaces/${id}/actions/lock`);
    const { text, ...attributes } = stateFile({ outputs: { a: { value: 'x', type: 'string', sensitive: true } } });
    await api.post(`workspaces/${id}/state-versions`, { ...attributes, state: Buffer.from(text).toString('base64') });
    const { data, included } = (
      await api.get(`workspaces/${id}?include=locked_by,current_state_version,outputs,organization`)
    ).body;
    expect(included.map(({ type }: { type: string }) => type)).toEqual([
      'organizations',
      'users',
      'state-versions',
      'workspace-outputs',
    ]);
    expect(data.relationships.outputs.data[0].id).toBe(included[3].id);
    expect(included[3].attributes).toEqual({ name: 'a', sensitive: true, 'output-type': 'string', value: null });
  });
});
