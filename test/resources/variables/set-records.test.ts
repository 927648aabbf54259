import { expect, it } from 'vitest';
import { keys } from '#platform/store/keys.ts';
import type { VariableSet } from '#resources/variables/set-records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { uniqueName } from '#test/support/api.ts';
import { startAws } from '#test/support/aws.ts';
import { startStorage } from '#test/support/storage.ts';

const aws = await startAws();
const storage = await startStorage();
const { getObject } = await import('#platform/store/bucket.ts');
const { queryAll } = await import('#platform/store/table.ts');
const { deleteWorkspace } = await import('#removal/workspaces.ts');
const { freezeVariables, openInputs } = await import('#resources/runs/inputs.ts');
const { createVariable } = await import('#resources/variables/records.ts');
const store = await import('#resources/variables/set-records.ts');

/** A new organization, with a workspace in a project. */
const newHome = () => ({ id: uniqueName('ws'), organization: uniqueName('org'), projectId: uniqueName('prj') });
type Home = ReturnType<typeof newHome>;

const newSet = async (home: Home, changes: Partial<VariableSet> = {}): Promise<VariableSet> => {
  const { organization } = home;
  const settings = { name: uniqueName('set'), description: null, global: false, priority: false, ...changes };
  return (await store.createVariableSet({ organization, ...settings })) as VariableSet;
};

const variable = (ownerId: string, key: string, value: string, more = {}) =>
  createVariable(ownerId, {
    key,
    value,
    category: 'terraform',
    hcl: false,
    sensitive: false,
    description: null,
    ...more,
  });

let runs = 0;
/** Effective values of a run in the workspace, by key. */
const values = async (home: Home, own: { key: string; value: string }[] = []) => {
  const id = `run-${++runs}`;
  const inputsKey = await freezeVariables(home, id, own);
  return Object.fromEntries(
    (await openInputs({ id, workspaceId: home.id, inputsKey })).map(({ key, value }) => [key, value]),
  );
};

it('a variable set applies to a workspace directly, through its project, or globally', async () => {
  const home = newHome();
  const [byWorkspace, byProject, global, other] = [
    await newSet(home),
    await newSet(home),
    await newSet(home, { global: true }),
    await newSet(home),
  ];
  await variable(byWorkspace.id, 'a', 'workspace');
  await variable(byProject.id, 'b', 'project');
  await variable(global.id, 'c', 'global');
  await variable(other.id, 'd', 'nowhere');
  await store.applyVariableSet(byWorkspace, 'workspaceIds', [home.id]);
  await store.applyVariableSet(byProject, 'projectIds', [home.projectId]);
  expect(await values(home)).toEqual({ a: 'workspace', b: 'project', c: 'global' });
  expect(await values({ ...home, organization: uniqueName('org') })).toEqual({});
});

it('variable sets have the documented precedence, and are ordered by name within a level', async () => {
  const home = newHome();
  const key = 'region';
  const levels: { name: string; set: () => Promise<void> }[] = [];
  const level = (name: string, overrides: Partial<VariableSet>, scope?: 'workspaceIds' | 'projectIds') =>
    levels.push({
      name,
      set: async () => {
        // The set with the later name must have no effect.
        for (const prefix of ['a', 'b']) {
          const set = await newSet(home, { ...overrides, name: `${prefix} ${name}` });
          await variable(set.id, key, prefix === 'a' ? name : 'the second by name');
          if (scope) await store.applyVariableSet(set, scope, [scope === 'workspaceIds' ? home.id : home.projectId]);
        }
      },
    });
  const { projectId } = home;
  level('global', { global: true });
  level('project-scoped', {}, 'projectIds');
  level('workspace-scoped', {}, 'workspaceIds');
  level('project-owned project-scoped', { projectId }, 'projectIds');
  level('project-owned workspace-scoped', { projectId }, 'workspaceIds');
  levels.push({ name: 'own', set: async () => void (await variable(home.id, key, 'own')) });
  level('priority project-owned workspace-scoped', { projectId, priority: true }, 'workspaceIds');
  level('priority project-owned project-scoped', { projectId, priority: true }, 'projectIds');
  level('priority workspace-scoped', { priority: true }, 'workspaceIds');
  level('priority project-scoped', { priority: true }, 'projectIds');
  level('priority global', { priority: true, global: true });
  for (const { name, set } of levels) {
    await set();
    expect((await values(home))[key]).toBe(name);
    // The run's own value overrides everything without priority.
    const withRun = (await values(home, [{ key, value: 'run' }]))[key];
    expect(withRun).toBe(name.startsWith('priority') ? name : 'run');
  }
});

it('a variable set of a project applies only within its project', async () => {
  const home = newHome();
  const set = await newSet(home, { projectId: home.projectId });
  await variable(set.id, 'a', 'x');
  await store.applyVariableSet(set, 'workspaceIds', [home.id]);
  expect(await values(home)).toEqual({ a: 'x' });
  expect(await values({ ...home, projectId: uniqueName('prj') })).toEqual({});
});

it('a variable set keeps secrets sealed, for itself only', async () => {
  const home = newHome();
  const set = await newSet(home, { global: true });
  await variable(set.id, 'TOKEN', 'correct horse battery', { sensitive: true, category: 'env' });
  const inputsKey = await freezeVariables(home, 'run-sealed', []);
  expect((await getObject(inputsKey as string))?.toString()).not.toContain('correct horse');
  const text = JSON.stringify(await queryAll({ pk: keys.variableSet(set.id).pk }), (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
  expect(text).not.toContain('correct horse');
  expect((await values(home)).TOKEN).toBe('correct horse battery');
});

it('a run opens only the effective secrets', async () => {
  const home = newHome();
  const set = await newSet(home, { global: true });
  await variable(set.id, 'a', 'below', { sensitive: true });
  await variable(home.id, 'a', 'own');
  const inputsKey = await freezeVariables(home, 'run-few', []);
  const before = storage.calls.length;
  expect(await openInputs({ id: 'run-few', workspaceId: home.id, inputsKey })).toMatchObject([{ value: 'own' }]);
  expect(storage.calls.slice(before).filter((call) => call.startsWith('kms'))).toEqual([]);
});

it('a deleted variable set and its variables no longer apply anywhere', async () => {
  const home = newHome();
  const set = await newSet(home);
  await variable(set.id, 'a', 'x');
  const applied = (await store.applyVariableSet(set, 'workspaceIds', [home.id])) as VariableSet;
  await store.deleteVariableSet(applied);
  expect(await values(home)).toEqual({});
  expect(await queryAll({ pk: keys.variableSet(set.id).pk })).toEqual([]);
  expect(await queryAll({ pk: keys.workspace(home.id).pk })).toEqual([]);
  expect(await store.createVariableSet({ ...set, organization: home.organization })).toBeDefined();
});

it('a pointer left behind by an interrupted change is ignored', async () => {
  const home = newHome();
  const set = await newSet(home);
  await variable(set.id, 'a', 'x');
  aws.failCall(2, 'before');
  await expect(store.applyVariableSet(set, 'workspaceIds', [home.id])).rejects.toThrow();
  expect(await values(home)).toEqual({});
  await store.applyVariableSet(set, 'workspaceIds', [home.id]);
  aws.failCall(2, 'before');
  await expect(store.withdrawVariableSet(set, 'workspaceIds', [home.id])).rejects.toThrow();
  expect(await values(home)).toEqual({});
});

it('a variable set limits how many workspaces it is applied to', async () => {
  const home = newHome();
  const set = await newSet(home);
  const most = store.maxOf.projectIds;
  const ids = Array.from({ length: most }, (_, i) => `prj-${String(i).padStart(16, '0')}`);
  expect(await store.addIds(set.id, 'projectIds', ids)).toBeDefined();
  expect(await store.addIds(set.id, 'projectIds', ['prj-one-more'])).toBeUndefined();
});

it('names of variable sets are unique per owner, also under concurrency', async () => {
  const home = newHome();
  const settings = { name: 'shared', description: null, global: false, priority: false };
  const results = await Promise.all(
    Array.from({ length: 4 }, () => store.createVariableSet({ ...settings, organization: home.organization })),
  );
  expect(results.filter(Boolean)).toHaveLength(1);
  expect(await newSet(home, { ...settings, projectId: home.projectId })).toBeDefined();
  const second = await newSet(home);
  expect(await store.updateVariableSet(second, { name: 'shared' }, { userId: 'user-a' })).toBeUndefined();
  const first = results.find(Boolean) as VariableSet;
  await store.updateVariableSet(first, { name: 'renamed' }, { userId: 'user-a' });
  expect(await store.updateVariableSet(second, { name: 'shared' }, { userId: 'user-a' })).toMatchObject({
    name: 'shared',
  });
});

it('a variable set drops deleted workspaces', async () => {
  const home = newHome();
  const set = await newSet(home);
  const { create } = await import('#platform/store/table.ts');
  const workspace = { ...home, name: 'w', runCount: 0 } as unknown as Workspace;
  await create({ ...keys.workspace(home.id), ...workspace });
  await store.applyVariableSet(set, 'workspaceIds', [home.id]);
  await deleteWorkspace(workspace, { by: 'user-1' });
  expect((await store.getVariableSet(set.id))?.workspaceIds).toBeUndefined();
  expect(await queryAll({ pk: keys.workspace(home.id).pk })).toEqual([]);
});

it('a workspace without variable sets costs three small queries', async () => {
  const before = [aws.calls, aws.itemsRead];
  await store.effectiveVariableSets(newHome());
  expect([aws.calls, aws.itemsRead]).toEqual([(before[0] as number) + 3, before[1]]);
});
