import { expect, it } from 'vitest';
import { keys } from '#platform/store/keys.ts';
import type { Names } from '#platform/store/name-index.ts';
import type { NameItem } from '#resources/workspaces/names.ts';
import type { NewWorkspace, Workspace } from '#resources/workspaces/records.ts';
import { uniqueName } from '#test/support/api.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun, queueEntry } from '#test/support/run.ts';

const editor = { userId: 'user-a' };
const aws = await startAws();
const locks = await import('#lifecycle/queue/locks.ts');
const { eachName } = await import('#platform/store/name-index.ts');
const table = await import('#platform/store/table.ts');
const { deleteWorkspace } = await import('#removal/workspaces.ts');
const { claimName, namesOf, namesOfProject } = await import('#resources/workspaces/names.ts');
const store = await import('#resources/workspaces/records.ts');

const settings = (name: string): NewWorkspace => ({
  ...store.defaultSettings,
  organization: 'acme',
  name,
  projectId: 'prj-1',
  tags: [],
});
const create = async (name = uniqueName('ws')) => (await store.createWorkspace(settings(name))) as Workspace;

it('concurrent requests with the same name create one workspace', async () => {
  const name = uniqueName('ws');
  const results = await Promise.all(Array.from({ length: 8 }, () => store.createWorkspace(settings(name))));
  const winners = results.filter((workspace) => workspace !== undefined);
  expect(winners).toHaveLength(1);
  expect((await store.findWorkspace('acme', name))?.id).toBe(winners[0]?.id);
});

it('a workspace is found by exact name and by id', async () => {
  const workspace = await create();
  expect(await store.getWorkspace(workspace.id)).toMatchObject({ name: workspace.name, runCount: 0 });
  expect(await store.findWorkspace('acme', `${workspace.name}x`)).toBeUndefined();
  expect(await store.findWorkspace('other', workspace.name)).toBeUndefined();
});

it('a creation that crashed after writing the name can be completed', async () => {
  const name = uniqueName('ws');
  aws.failCall(2, 'before');
  await expect(store.createWorkspace(settings(name))).rejects.toThrow();
  expect(await store.findWorkspace('acme', name)).toBeUndefined();
  const workspace = await create(name);
  expect((await store.findWorkspace('acme', name))?.id).toBe(workspace.id);
});

it('a rename frees the old name', async () => {
  const workspace = await create();
  const name = uniqueName('renamed');
  expect(await store.updateWorkspace(workspace, { name }, editor)).toMatchObject({ name });
  expect((await store.findWorkspace('acme', name))?.id).toBe(workspace.id);
  expect(await store.findWorkspace('acme', workspace.name)).toBeUndefined();
  expect((await create(workspace.name)).id).not.toBe(workspace.id);
});

it('a rename to an existing name is rejected and keeps both workspaces', async () => {
  const [one, two] = [await create(), await create()];
  expect(await store.updateWorkspace(one, { name: two.name }, editor)).toBe('name taken');
  expect((await store.findWorkspace('acme', one.name))?.id).toBe(one.id);
  expect((await store.findWorkspace('acme', two.name))?.id).toBe(two.id);
});

it('a change based on an outdated version is rejected', async () => {
  const workspace = await create();
  await table.update(keys.workspace(workspace.id), { set: { updatedAt: '2020-01-01T00:00:00.000Z', autoApply: true } });
  const name = uniqueName('renamed');
  expect(await store.updateWorkspace(workspace, { name }, editor)).toBe('changed meanwhile');
  expect(await store.findWorkspace('acme', name)).toBeUndefined();
  expect(await claimName('acme', name, { workspaceId: 'ws-x', projectId: 'prj-1', tags: [] })).toBe('ws-x');
});

it('a deletion frees the name, the id and the variables of the workspace', async () => {
  const workspace = await create();
  await table.put({ ...keys.variable(workspace.id, 'var-1'), value: 'x' });
  await table.put({ ...keys.variableKey(workspace.id, 'env', 'A'), variableId: 'var-1' });
  expect(await deleteWorkspace(workspace, { by: 'user-1' })).toBe(true);
  expect(await store.getWorkspace(workspace.id)).toBeUndefined();
  expect(await table.queryAll({ pk: keys.workspace(workspace.id).pk })).toEqual([]);
  expect((await create(workspace.name)).id).not.toBe(workspace.id);
});

it('a workspace can be created again after a deletion that crashed at any call', async () => {
  for (let call = 1; call <= 4; call++) {
    const workspace = await create();
    aws.failCall(call, 'after');
    await deleteWorkspace(workspace, { by: 'user-1' }).catch(() => {});
    const gone = (await store.getWorkspace(workspace.id)) === undefined;
    expect(gone).toBe(call > 1);
    if (gone) expect((await create(workspace.name)).id).not.toBe(workspace.id);
  }
});

it('a workspace with queued runs cannot be deleted', async () => {
  const workspace = await create();
  await table.put(queueEntry(newRun({ id: 'run-1', workspaceId: workspace.id })));
  expect(await deleteWorkspace(workspace, { by: 'user-1' })).toBe(false);
  await table.remove(keys.queued(workspace.id, 1, 'run-1'));
  await table.update(keys.workspace(workspace.id), { add: { runCount: 1 } });
  expect(await deleteWorkspace(workspace, { by: 'user-1' })).toBe(false);
  expect(await store.getWorkspace(workspace.id)).toBeDefined();
});

it('a lock is held by one of several concurrent requests, and only that one can unlock', async () => {
  const { id } = await create();
  const users = ['user-1', 'user-2', 'user-3'];
  const locked = await Promise.all(users.map((user) => locks.lockWorkspace(id, user, '')));
  const holder = users.filter((_, i) => locked[i]);
  expect(holder).toHaveLength(1);
  const other = users.find((user) => user !== holder[0]) as string;
  expect(await locks.unlockWorkspace(id, other)).toBeUndefined();
  expect((await locks.unlockWorkspace(id, holder[0]))?.lock).toBeUndefined();
  expect(await locks.unlockWorkspace(id, holder[0])).toBeUndefined();
});

it("an unlock never releases a run's lock", async () => {
  const { id } = await create();
  await table.update(keys.workspace(id), { set: { lock: { kind: 'run', runId: 'run-1', at: '' } } });
  expect(await locks.unlockWorkspace(id)).toBeUndefined();
  expect(await locks.lockWorkspace(id, 'user-1', '')).toBeUndefined();
});

it('an unlock starts the first queued run', async () => {
  const { id } = await create();
  await locks.lockWorkspace(id, 'user-1', 'maintenance');
  const run = newRun({ id: 'run-9', workspaceId: id });
  await table.put(queueEntry(run));
  await table.put({ ...keys.run(run.id), ...run });
  await locks.unlockWorkspace(id, 'user-1');
  expect((await store.getWorkspace(id))?.lock).toMatchObject({ kind: 'run', runId: 'run-9' });
});

it('the index lists names in order, with the attributes for filters', async () => {
  const organization = uniqueName('org');
  for (const name of ['B', 'a', 'c']) {
    await store.createWorkspace({ ...settings(name), organization, tags: [{ key: 'team', value: name }] });
  }
  const workspace = (await store.findWorkspace(organization, 'B')) as Workspace;
  await store.updateWorkspace(workspace, { tags: [{ key: 'team', value: 'changed' }], projectId: 'prj-2' }, editor);
  const names = async (of: Names) => {
    const all: NameItem[] = [];
    for await (const some of eachName<NameItem>(of)) all.push(...some);
    return all;
  };
  expect(await names(namesOf(organization))).toMatchObject([
    { name: 'a', tags: [{ key: 'team', value: 'a' }] },
    { name: 'B', tags: [{ key: 'team', value: 'changed' }], projectId: 'prj-2' },
    { name: 'c', tags: [{ key: 'team', value: 'c' }] },
  ]);
  expect(await names(namesOfProject('prj-2'))).toMatchObject([
    { name: 'B', tags: [{ key: 'team', value: 'changed' }] },
  ]);
});
