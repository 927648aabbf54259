import { beforeEach, describe, expect, it, vi } from 'vitest';
import { actingAs, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { runHelpers } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';
import { taskHelpers } from '#test/support/task-stages.ts';

/** Deleted workspaces: recovered attributes, recovery period and permissions (HCP API: recoverable items). */

const api = await startApi();
const members = await memberHelpers();
const { keys } = await import('#platform/store/keys.ts');
const table = await import('#platform/store/table.ts');
const sweep = (await import('#lifecycle/repair/deleted-workspaces.ts')).completeWorkspaceEnd;
const purge = (await import('#removal/retention/handler.ts')).handler;
beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

const items = 'organizations/acme/recoverable-items';
const itemOf = (id: string) => id.replace('ws-', 'ri-');
const list = async (query = '', sent = {}) =>
  (await api.get(`${items}?page[size]=100${query && `&${query}`}`, sent)).body.data as {
    id: string;
    attributes: Record<string, unknown>;
    relationships: Record<string, { data: { id: string } }>;
  }[];
const listedIds = async (query = '', sent = {}) => (await list(query, sent)).map(({ id }) => id);
const act = (id: string, action: 'recover' | 'permanently-delete', sent = {}) =>
  api.call('PUT', `recoverable-items/${itemOf(id)}/actions/${action}`, sent);
const remove = async (id: string) => {
  expect((await api.call('DELETE', `workspaces/${id}`)).status).toBe(204);
};
const deleted = async (attributes: object = {}) => {
  const workspace = await api.workspace(attributes);
  await remove(workspace.id);
  return workspace;
};
const variable = (value: string) => ({ key: 'a', value, category: 'env', sensitive: true });
const stateIn = async (id: string, content: object = {}) => {
  await api.call('POST', `workspaces/${id}/actions/lock`);
  const { text, ...attributes } = stateFile({ serial: 1, ...content });
  const state = Buffer.from(text).toString('base64');
  const { body } = await api.post(`workspaces/${id}/state-versions`, { ...attributes, state });
  await api.call('POST', `workspaces/${id}/actions/unlock`);
  return body.data.id as string;
};
const record = (id: string) => table.get<Record<string, unknown>>(keys.workspace(id));
const age = (id: string) =>
  table.update(keys.workspace(id), { set: { recoverableUntil: new Date(Date.now() - 1000).toISOString() } });

describe('a deleted workspace', () => {
  it('is listed with its attributes, and 404 everywhere else', async () => {
    const { id, attributes } = await deleted();
    const one = (await list()).find((item) => item.id === itemOf(id));
    expect(one).toMatchObject({
      type: 'recoverable-items',
      attributes: { 'recoverable-name': attributes.name, 'unmanaged-resources': 0, 'permanently-deleted-at': null },
      relationships: { recoverable: { data: { id, type: 'workspaces' } } },
    });
    const { 'deleted-at': from, 'expires-at': to } = (one?.attributes ?? {}) as Record<string, string>;
    expect(Date.parse(to ?? '') - Date.parse(from ?? '')).toBeCloseTo(7 * 24 * 3600 * 1000, -4);
    expect(Date.parse(((await record(id)) as { dueAt: string }).dueAt), 'the sweep ends it then').toBeCloseTo(
      Date.parse(to ?? ''),
      -4,
    );
    expect((await api.call('PUT', `recoverable-items/${id}/actions/recover`)).status, "by its workspace's id").toBe(
      404,
    );
    expect((await api.get(`workspaces/${id}`)).status).toBe(404);
    expect((await api.get(`workspaces/${id}/vars`)).status).toBe(404);
    expect((await api.get(`organizations/acme/workspaces/${attributes.name}`)).status).toBe(404);
  });

  it('comes back with its id, variables, states, tags and grants', async () => {
    const { id, attributes } = await api.workspace();
    const created = (await api.post(`workspaces/${id}/vars`, variable('secret'))).body.data.id;
    const state = await stateIn(id);
    await api.call('POST', `workspaces/${id}/relationships/tags`, {
      body: { data: [{ type: 'tags', attributes: { name: 'kept' } }] },
    });
    await api.call('POST', `workspaces/${id}/actions/lock`);
    // The end of the list would correct the total.
    await api.workspace();
    const counts = async () =>
      (await api.get('organizations/acme/workspaces?page[size]=1')).body.meta.pagination['total-count'];
    const count = await counts();
    await remove(id);
    expect(await counts()).toBe(count - 1);
    expect((await act(id, 'recover')).status).toBe(204);
    expect(await counts()).toBe(count);
    expect(await table.get(keys.recoverable('acme', id))).toBeUndefined();
    const { project } = (await api.get(`workspaces/${id}`)).body.data.relationships;
    const inProject = await api.get(
      `organizations/acme/workspaces?page[size]=100&filter[project][id]=${project.data.id}`,
    );
    expect(inProject.body.data).toContainEqual(expect.objectContaining({ id }));
    const { body } = await api.get(`organizations/acme/workspaces/${attributes.name}`);
    expect(body.data).toMatchObject({ id, attributes: { 'tag-names': ['kept'], locked: true } });
    expect((await api.get(`workspaces/${id}/vars`)).body.data).toMatchObject([{ id: created }]);
    expect((await api.get(`workspaces/${id}/current-state-version`)).body.data.id).toBe(state);
    expect(await listedIds()).not.toContain(itemOf(id));
    expect((await api.get('organizations/acme/workspaces?page[size]=100')).body.data).toContainEqual(
      expect.objectContaining({ id }),
    );
    const left = await record(id);
    for (const mark of ['deletedAt', 'recoverableUntil', 'isDetached', 'dueAt']) expect(left).not.toHaveProperty(mark);
    // Deletion and recovery can be repeated.
    await remove(id);
    expect((await act(id, 'recover')).status).toBe(204);
  });

  it('is removed from variable sets, policy sets and run tasks, and restored to them', async () => {
    const { id } = await api.workspace();
    const applied = { workspaces: { data: [{ type: 'workspaces', id }] } };
    const varset = (await api.post('organizations/acme/varsets', { name: uniqueName('set') }, applied)).body.data.id;
    const left = (await api.post('organizations/acme/varsets', { name: uniqueName('set') }, applied)).body.data.id;
    await api.call('DELETE', `varsets/${left}/relationships/workspaces`, { body: applied.workspaces });
    const global = (await api.post('organizations/acme/varsets', { name: uniqueName('set') }, applied)).body.data.id;
    const policySets = async (attributes: object, related: object) =>
      (await api.post('organizations/acme/policy-sets', { name: uniqueName('set'), ...attributes }, related)).body.data;
    const policySet = await policySets({}, applied);
    const globalPolicies = await policySets({}, applied);
    const excluding = await policySets({ global: true }, { 'workspace-exclusions': applied.workspaces });
    const task = (await (await taskHelpers()).task()).id;
    const attached = { task: { data: { type: 'tasks', id: task } } };
    await api.post(`workspaces/${id}/tasks`, { 'enforcement-level': 'mandatory', stages: ['pre_plan'] }, attached);
    const workspacesOf = async (path: string) =>
      (await api.get(path)).body.data.relationships.workspaces.data.map((one: { id: string }) => one.id);
    await remove(id);
    expect(await workspacesOf(`varsets/${varset}`)).toEqual([]);
    expect(await workspacesOf(`policy-sets/${policySet.id}`)).toEqual([]);
    for (const path of [`varsets/${global}`, `policy-sets/${globalPolicies.id}`])
      expect((await api.patch(path, { global: true })).status).toBe(200);
    expect((await act(id, 'recover')).status).toBe(204);
    const { workspaceIds } = (await table.get<{ workspaceIds?: Set<string> }>(keys.variableSet(global))) ?? {};
    expect(workspaceIds?.size ?? 0).toBe(0);
    await api.call('DELETE', `varsets/${global}`);
    const { relationships } = (await api.get(`policy-sets/${excluding.id}`)).body.data;
    expect(relationships['workspace-exclusions'].data).toEqual(applied.workspaces.data);
    expect((await api.get(`policy-sets/${globalPolicies.id}`)).body.data.relationships.workspaces.data).toEqual([]);
    expect(await workspacesOf(`varsets/${varset}`)).toEqual([id]);
    expect(await workspacesOf(`varsets/${left}`)).toEqual([]);
    expect(await workspacesOf(`policy-sets/${policySet.id}`)).toEqual([id]);
    expect((await api.get(`workspaces/${id}/tasks`)).body.data).toMatchObject([
      { attributes: { 'enforcement-level': 'mandatory', stages: ['pre_plan'] } },
    ]);
  });

  it('is attached to nothing of another organization', async () => {
    const organization = uniqueName('foreign');
    await api.post('organizations', { name: organization, email: 'a@b.test' });
    const make = async (kind: string) =>
      (await api.post(`organizations/${organization}/${kind}`, { name: 'foreign' })).body.data.id as string;
    const [varset, policySet] = [await make('varsets'), await make('policy-sets')];
    const task = (await (await taskHelpers()).task({}, organization)).id;
    const { id } = await deleted();
    const tasks = [{ taskId: task, stages: ['pre_plan'], enforcementLevel: 'advisory' }];
    const attachments = { variableSets: [varset], policySets: [policySet], excludedFrom: [policySet], tasks };
    await table.update(keys.workspace(id), { set: { attachments } });
    expect((await act(id, 'recover')).status).toBe(204);
    expect((await api.get(`workspaces/${id}/tasks`)).body.data).toEqual([]);
    for (const key of [keys.variableSet(varset), keys.policySet(policySet)]) {
      const set = await table.get<Record<string, unknown>>(key);
      expect([set?.workspaceIds, set?.workspaceExclusionIds]).toEqual([undefined, undefined]);
    }
  });

  it('comes back without automatic destruction, whose time may have passed', async () => {
    const { id } = await deleted({ 'auto-destroy-at': new Date(Date.now() + 3_600_000).toISOString() });
    expect((await act(id, 'recover')).status).toBe(204);
    expect((await api.get(`workspaces/${id}`)).body.data.attributes['auto-destroy-at']).toBeNull();
    expect(await table.get(keys.autoDestroy(id))).toBeUndefined();
  });

  it('keeps its SSH key, unless that was deleted', async () => {
    const value = '-----BEGIN OPENSSH PRIVATE KEY-----\nnobody sees this line\n-----END OPENSSH PRIVATE KEY-----\n';
    const recovered = async (isKeyDeleted: boolean) => {
      const key = (await api.post('organizations/acme/ssh-keys', { name: uniqueName('key'), value })).body.data.id;
      const { id } = await api.workspace();
      const body = { data: { type: 'workspaces', attributes: { id: key } } };
      expect((await api.call('PATCH', `workspaces/${id}/relationships/ssh-key`, { body })).status).toBe(200);
      await remove(id);
      if (isKeyDeleted) expect((await api.call('DELETE', `ssh-keys/${key}`)).status).toBe(204);
      expect((await act(id, 'recover')).status).toBe(204);
      const shown = (await api.get(`workspaces/${id}`)).body.data.relationships['ssh-key'].data;
      return shown === null ? null : shown.id === key;
    };
    expect([await recovered(false), await recovered(true)]).toEqual([true, null]);
  });

  it('has its timers again', async () => {
    const { id } = await api.workspace({ 'assessments-enabled': true });
    const body = { data: { type: 'data-retention-policy-delete-olders', attributes: { deleteOlderThanNDays: 5 } } };
    await api.call('POST', `workspaces/${id}/relationships/data-retention-policy`, { body });
    const timers = () => Promise.all([keys.healthTimer(id), keys.workspaceRetention(id)].map((key) => table.get(key)));
    await remove(id);
    expect(await timers()).toEqual([undefined, undefined]);
    expect((await act(id, 'recover')).status).toBe(204);
    expect(await timers()).toEqual([expect.anything(), expect.anything()]);
    const plain = await deleted();
    await act(plain.id, 'recover');
    expect(await table.get(keys.healthTimer(plain.id))).toBeUndefined();
  });

  it('is recovered once, and never after its permanent deletion began', async () => {
    const { getRecoverable } = await import('#removal/recoverable-items/records.ts');
    const { recover } = await import('#removal/recoverable-items/recover.ts');
    const { id } = await deleted();
    const found = await getRecoverable(itemOf(id));
    if (!found) throw new Error('not recoverable');
    await recover(found);
    await recover(found);
    await remove(id);
    const again = await getRecoverable(itemOf(id));
    expect((await act(id, 'permanently-delete')).status).toBe(204);
    await expect(recover(again as typeof found)).rejects.toThrow('can no longer be recovered');
  });

  it('waits for its runs to stop', async () => {
    const runs = await runHelpers(api);
    const { id } = await runs.ready();
    await runs.create(id);
    expect((await api.call('DELETE', `workspaces/${id}?force`)).status).toBe(204);
    expect(Date.parse(((await record(id)) as { dueAt: string }).dueAt), 'stopped at once').toBeLessThan(
      Date.now() + 1000,
    );
    const refused = await act(id, 'recover');
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      409,
      expect.stringContaining('still being deleted'),
    ]);
    expect((await act(id, 'permanently-delete')).status).toBe(204);
    await purge({ due: [keys.workspace(id)] });
    expect(await record(id)).toBeDefined();
  });

  it('runs nothing until a user selects an execution mode, if its agent pool was deleted', async () => {
    const newPool = async () =>
      (await api.post('organizations/acme/agent-pools', { name: uniqueName('pool') })).body.data.id;
    const [pool, kept] = [await newPool(), await newPool()];
    const { id: using } = await deleted({ 'execution-mode': 'agent', 'agent-pool-id': kept });
    expect((await act(using, 'recover')).status).toBe(204);
    expect((await api.get(`workspaces/${using}`)).body.data.attributes['execution-mode']).toBe('agent');
    expect((await api.call('DELETE', `agent-pools/${kept}`)).status, 'is used').not.toBe(204);
    const { id } = await deleted({ 'execution-mode': 'agent', 'agent-pool-id': pool });
    await table.update(keys.agentPool(pool), { set: { deletedAt: new Date().toISOString() } });
    expect((await act(id, 'recover')).status).toBe(204);
    const { attributes } = (await api.get(`workspaces/${id}`)).body.data;
    expect(attributes).toMatchObject({ 'execution-mode': 'local', 'setting-overwrites': { 'execution-mode': true } });
  });

  it('returns to the default project when its own was deleted', async () => {
    const project = (await api.post('organizations/acme/projects', { name: uniqueName('Gone') })).body.data.id;
    const name = uniqueName('homeless');
    const home = { project: { data: { type: 'projects', id: project } } };
    const { id } = (await api.post('organizations/acme/workspaces', { name }, home)).body.data;
    await remove(id);
    expect((await api.call('DELETE', `projects/${project}`)).status).toBe(204);
    expect((await act(id, 'recover')).status).toBe(204);
    const { 'default-project': usual } = (await api.get('organizations/acme')).body.data.relationships;
    expect((await api.get(`workspaces/${id}`)).body.data.relationships.project.data.id).toBe(usual.data.id);
  });

  it('does not reserve its name, and needs it for recovery', async () => {
    const { id, attributes } = await deleted();
    const other = await api.workspace({ name: attributes.name });
    const refused = await act(id, 'recover');
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      422,
      `Name has already been taken: rename the other workspace ${attributes.name} first.`,
    ]);
    await api.patch(`workspaces/${other.id}`, { name: uniqueName('renamed') });
    expect((await act(id, 'recover')).status).toBe(204);
    expect((await api.get(`organizations/acme/workspaces/${attributes.name}`)).body.data.id).toBe(id);
  });
});

describe('lists', () => {
  it('filter, sort and include', async () => {
    const prefix = uniqueName('sorted');
    const [a, b] = [await deleted({ name: `${prefix}-a` }), await api.workspace({ name: `${prefix}-b` })];
    await stateIn(b.id, { resources: [{ mode: 'managed', type: 't', name: 'n', provider: 'p', instances: [{}] }] });
    await remove(b.id);
    const both = [itemOf(a.id), itemOf(b.id)];
    const by = (query: string) => listedIds(`filter[search]=${prefix}&${query}`);
    expect(await by('sort=recoverable_name')).toEqual(both);
    expect(await by('sort=-recoverable_name')).toEqual([...both].reverse());
    expect(await by('sort=-unmanaged_resources')).toEqual([...both].reverse());
    expect(await by(''), 'the last to expire first').toEqual([...both].reverse());
    expect(await by('sort=expires_at')).toEqual(both);
    const { body } = await api.get(`${items}?filter[search]=${prefix}-a`);
    expect(body).not.toHaveProperty('included');
    const [first] = body.data;
    expect(await by(`filter[expires_after]=${first?.attributes['expires-at']}`)).toEqual([itemOf(b.id)]);
    expect(await listedIds('filter[search]=DEFAULT project')).toEqual(expect.arrayContaining(both));
    expect(await by('filter[having_managed_resources]=true')).toEqual([itemOf(b.id)]);
    expect(await by('filter[recoverable_type]=stacks')).toEqual([]);
    expect(await by(`filter[expires_after]=${new Date(Date.now() + 8 * 24 * 3600_000).toISOString()}`)).toEqual([]);
    expect((await api.get(`${items}?filter[expires_after]=soon`)).status).toBe(400);
    expect((await api.get(`${items}?sort=name`)).status).toBe(400);
    expect(await listedIds('filter[search]=no-such')).toEqual([]);
    for (const [include, types] of [
      ['recoverable', ['workspaces', 'workspaces']],
      ['deleted_by', ['users']],
      ['project', ['projects']],
    ] as const) {
      const { included } = (await api.get(`${items}?filter[search]=${prefix}&include=${include}`)).body;
      expect(included.map(({ type }: { type: string }) => type)).toEqual(types);
    }
  });

  it('show nothing to users who could not see the workspace, and need workspace:delete to act', async () => {
    const { id } = await deleted();
    const outsider = await members.member('acme');
    expect(await listedIds('', { token: outsider.token })).toEqual([]);
    expect((await act(id, 'recover', { token: outsider.token })).status).toBe(404);
    const reader = await members.withLevel('acme', 'read');
    expect(await listedIds('', { token: reader.token })).toContain(itemOf(id));
    for (const action of ['recover', 'permanently-delete'] as const) {
      expect((await act(id, action, { token: reader.token })).status).toBe(403);
    }
    const stranger = await members.newUser(uniqueName('stranger'));
    expect((await actingAs(api, stranger.token).get(items)).status).toBe(404);
    expect((await act(id, 'recover', { token: stranger.token })).status).toBe(404);
  });
});

describe('permanent deletion', () => {
  it('deletes states and variables, and cannot be undone', async () => {
    const { id } = await api.workspace();
    await api.post(`workspaces/${id}/vars`, variable('secret'));
    const state = await stateIn(id);
    await remove(id);
    const version = await table.get<{ sha256: string }>(keys.stateVersion(state));
    const { objects } = await import('#platform/store/keys.ts');
    const { getObject } = await import('#platform/store/bucket.ts');
    const content = async () => (await getObject(objects.state(id, state, version?.sha256)))?.length ?? 0;
    expect(await content()).toBeGreaterThan(0);
    expect((await act(id, 'permanently-delete')).status).toBe(204);
    expect(await listedIds()).not.toContain(itemOf(id));
    expect((await act(id, 'recover')).status).toBe(404);
    api.aws.invoked.length = 0;
    expect(await sweep(id)).toBe(true);
    const [handed] = api.aws.invoked;
    expect(handed?.event).toEqual({ due: [keys.workspace(id)] });
    await purge(handed?.event as never);
    expect(await content()).toBe(0);
    expect(await record(id)).toBeUndefined();
    expect(await table.queryAll({ pk: keys.workspace(id).pk, prefix: 'VAR' })).toEqual([]);
    expect(await table.get(keys.recoverable('acme', id))).toBeUndefined();
  });

  it('happens automatically after a week, in batches', async () => {
    const { id } = await api.workspace();
    const configurations: string[] = [];
    for (let n = 0; n < 12; n++) configurations.push((await api.configuration(id)).id);
    await remove(id);
    // The sweep ignores items until they are due.
    api.aws.invoked.length = 0;
    await sweep(id);
    expect(api.aws.invoked).toEqual([]);
    await purge({ due: [keys.workspace(id)] });
    expect(await listedIds(), 'purged before its time').toContain(itemOf(id));
    await age(id);
    expect(await listedIds()).not.toContain(itemOf(id));
    expect((await act(id, 'recover')).status).toBe(404);
    await sweep(id);
    for (const { event } of api.aws.invoked) await purge(event as never);
    expect(await record(id)).toBeUndefined();
    const versions = await Promise.all(configurations.map((one) => table.get(keys.configurationVersion(one))));
    expect(versions).toMatchObject(Array(12).fill({ status: 'backing_data_permanently_deleted' }));
  });

  it('continues where its last pass stopped', async () => {
    const { id } = await api.workspace();
    const state = await stateIn(id);
    const pointers = [
      ...Array.from({ length: 190 }, (_, n) => [`CV#${String(n).padStart(3, '0')}`, 'configurationVersionId']),
      ...Array.from({ length: 12 }, (_, n) => [`RUN#${String(n).padStart(3, '0')}`, 'runId']),
    ];
    for (const [sk = '', name = ''] of pointers) await table.put({ pk: keys.workspace(id).pk, sk, [name]: 'gone' });
    await remove(id);
    await act(id, 'permanently-delete');
    await purge({ due: [keys.workspace(id)] });
    expect(await record(id)).toMatchObject({ purgedTo: 'RUN#009' });
    const before = api.aws.itemsRead;
    await purge({ due: [keys.workspace(id)] });
    expect(await record(id)).toBeUndefined();
    expect(api.aws.itemsRead - before, 'the rest only').toBeLessThan(50);
    expect(await table.get(keys.stateVersion(state))).toMatchObject({ status: 'backing_data_permanently_deleted' });
  });

  it('happens to no workspace that was not deleted, or was recovered', async () => {
    const { id } = await api.workspace();
    const recovered = await deleted();
    for (const one of [id, recovered.id]) await sweep(one);
    expect((await act(recovered.id, 'recover')).status).toBe(204);
    await purge({ due: [keys.workspace(id), keys.workspace(recovered.id), keys.workspace('ws-aaaaaaaaaaaaaaaa')] });
    for (const one of [id, recovered.id]) expect((await api.get(`workspaces/${one}`)).status).toBe(200);
  });

  it('deletes logs and plans of runs, also where a user has deleted them before', async () => {
    const runs = await runHelpers(api);
    const { objects } = await import('#platform/store/keys.ts');
    const { putObject } = await import('#platform/store/bucket.ts');
    const { softDeletePhase } = await import('#resources/runs/phase-content.ts');
    const { id } = await runs.ready();
    const [fresh, before] = [await runs.create(id), await runs.create(id)];
    const logs = [fresh, before].map((run) => objects.artifact(run.id, 'plan', 'log'));
    for (const log of logs) await putObject(log, 'content');
    for (const run of [fresh, before]) await runs.bring(run.id, { status: 'planned_and_finished' });
    const ended = await runs.store.getRun(before.id);
    if (ended) await softDeletePhase(ended, 'plan');
    expect((await runs.store.getRun(before.id))?.plan.content).toBe('soft_deleted');
    expect((await api.call('DELETE', `workspaces/${id}?force`)).status).toBe(204);
    for (const run of [fresh, before])
      await table.remove(keys.openRun('acme', (await runs.store.getRun(run.id))?.createdAt ?? '', run.id));
    await sweep(id);
    await act(id, 'permanently-delete');
    await purge({ due: [keys.workspace(id)] });
    expect(await record(id)).toBeUndefined();
    expect(api.storage.objects().filter((key) => logs.includes(key))).toEqual([]);
    expect((await runs.store.getRun(before.id))?.plan.content).toBe('permanently_deleted');
  });
});

describe('interrupted at any call', () => {
  /** Calls the function once per AWS call that it makes, with that call failing; then repeats it like a user. */
  const cutOff = async (prepare: () => Promise<string>, deed: (id: string) => Promise<unknown>) => {
    const ids: string[] = [];
    for (let n = 1; ; n++) {
      const id = await prepare();
      api.aws.failCall(n, 'after');
      await deed(id).catch(() => {});
      const isOver = api.aws.pendingFault;
      api.aws.failCall(0, 'after');
      if (isOver) return ids;
      ids.push(id);
    }
  };
  const withVariable = async () => {
    const { id } = await api.workspace();
    await api.post(`workspaces/${id}/vars`, variable('v'));
    const applied = { workspaces: { data: [{ type: 'workspaces', id }] } };
    await api.post('organizations/acme/varsets', { name: uniqueName('set') }, applied);
    return id as string;
  };
  const isWhole = async (id: string) => {
    const { body } = await api.get(`workspaces/${id}`);
    expect((await api.get(`organizations/acme/workspaces/${body.data.attributes.name}`)).body.data.id).toBe(id);
    expect((await api.get(`workspaces/${id}/vars`)).body.data).toHaveLength(1);
    expect((await api.get(`workspaces/${id}/varsets`)).body.data).toHaveLength(1);
  };

  it('a deletion loses nothing that a recovery brings back', async () => {
    const ids = await cutOff(withVariable, (id) => api.call('DELETE', `workspaces/${id}`));
    expect(ids.length).toBeGreaterThan(10);
    for (const id of ids) {
      if ((await api.get(`workspaces/${id}`)).status === 200) await remove(id);
      await sweep(id);
      expect((await act(id, 'recover')).status).toBe(204);
      await isWhole(id);
    }
  }, 60_000);

  it('a recovery has happened, or can be repeated', async () => {
    const prepare = async () => {
      const id = await withVariable();
      await remove(id);
      return id;
    };
    const ids = await cutOff(prepare, (id) => act(id, 'recover'));
    expect(ids.length).toBeGreaterThan(10);
    for (const id of ids) {
      if ((await api.get(`workspaces/${id}`)).status !== 200) expect((await act(id, 'recover')).status).toBe(204);
      await isWhole(id);
    }
  }, 60_000);
});
