import { expect, it } from 'vitest';
import type { Workspace } from '#resources/workspaces/records.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const { deleteWorkspace } = await import('#removal/workspaces.ts');
const { getWorkspace } = await import('#resources/workspaces/records.ts');

const by = 'user-1';
const newWorkspace = async (): Promise<Workspace> => (await getWorkspace((await api.workspace()).id)) as Workspace;

it('a workspace with an unfinished run, or in which one was created meanwhile, is deleted by force only', async () => {
  const runs = await runHelpers(api);
  const { id } = await runs.ready();
  await runs.create(id);
  expect(await deleteWorkspace((await getWorkspace(id)) as Workspace, { by })).toBe(false);
  const workspace = await newWorkspace();
  const before = { ...workspace, runCount: workspace.runCount - 1 };
  expect(await deleteWorkspace(before, { by })).toBe(false);
  expect(await getWorkspace(workspace.id)).toBeDefined();
  expect(await deleteWorkspace(before, { by, force: true })).toBe(true);
  expect(await getWorkspace(workspace.id)).toBeUndefined();
});

it('a deletion by force succeeds when another request has deleted the workspace; other deletions are rejected', async () => {
  const workspace = await newWorkspace();
  expect(await deleteWorkspace(workspace, { by })).toBe(true);
  expect(await deleteWorkspace(workspace, { by, force: true })).toBe(true);
  expect(await deleteWorkspace(workspace, { by })).toBe(false);
});

it('a large organization is deleted a number of workspaces at a time, and its teams after them', async () => {
  const { completeEnd } = await import('#removal/organizations.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { get, remove, update } = await import('#platform/store/table.ts');
  const name = 'large';
  await api.post('organizations', { name, email: 'a@b.test' });
  const make = async (kind: string, called: string) =>
    (await api.post(`organizations/${name}/${kind}`, { name: called })).body.data.id as string;
  const workspaces = [await make('workspaces', 'w1'), await make('workspaces', 'w2'), await make('workspaces', 'w3')];
  // Its deletion ended before its name was released.
  await remove(keys.workspace(await make('workspaces', 'w0')));
  const recoverable = (await getWorkspace(await make('workspaces', 'w4'))) as Workspace;
  await deleteWorkspace(recoverable, { by, recoverable: true });
  const team = await make('teams', 'team');
  const pools = [await make('agent-pools', 'free'), await make('agent-pools', 'used')];
  const [, used = ''] = pools;
  const { getTeam } = await import('#resources/teams/records.ts');
  const left = async () => (await Promise.all(workspaces.map(getWorkspace))).filter(Boolean).length;
  expect(await completeEnd(name, 2), 'is not deleted').toBe(false);
  await update(keys.organization(name), { set: { deletedAt: '2026-01-01T00:00:00.000Z' } });
  expect([await completeEnd(name, 2), await left(), (await getTeam(team))?.id]).toEqual([true, 2, team]);
  expect(await get(keys.organization(name)), 'the sweep continues').toHaveProperty('dueAt');
  // As a workspace that was moved to the pool a moment ago.
  const { usePool } = await import('#resources/agents/pools/uses.ts');
  await usePool(used, 'ws-elsewhere');
  expect([await completeEnd(name, 2), await left(), await getTeam(team)]).toEqual([true, 0, undefined]);
  expect(await get(keys.workspace(recoverable.id)), 'its data is deleted').toMatchObject({ isEnding: true });
  const { getAgentPool } = await import('#resources/agents/pools/records.ts');
  const { leavePool } = await import('#resources/agents/pools/uses.ts');
  const rest = async () => [
    ...(await Promise.all(pools.map(async (id) => (await getAgentPool(id)) !== undefined))),
    (await get<{ dueAt?: string }>(keys.organization(name)))?.dueAt !== undefined,
  ];
  expect(await rest(), 'the used pool, which the sweep deletes').toEqual([false, true, true]);
  await leavePool(used, 'ws-elsewhere');
  expect(await completeEnd(name)).toBe(true);
  expect(await rest()).toEqual([false, false, false]);
});

it('a deleted project is no longer counted', async () => {
  const total = async () =>
    (await api.get('organizations/acme/projects?page[size]=1')).body.meta.pagination['total-count'];
  const ids: string[] = [];
  for (const name of ['counted', 'counted-2', 'counted-3'])
    ids.push((await api.post('organizations/acme/projects', { name })).body.data.id);
  const before = await total();
  await api.call('DELETE', `projects/${ids[0]}`);
  expect(await total()).toBe(before - 1);
});

it('only a marked resource is deleted by the sweep', async () => {
  const { completeDeletionOf } = await import('#removal/unfinished.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { get, update } = await import('#platform/store/table.ts');
  const { id } = (await api.post('organizations/acme/teams', { name: 'unmarked' })).body.data;
  expect(await completeDeletionOf(keys.team('team-none'))).toBe(false);
  expect(await completeDeletionOf(keys.team(id))).toBe(false);
  expect(await get(keys.team(id))).toBeDefined();
  await update(keys.team(id), { set: { deletedAt: '2026-01-01T00:00:00.000Z' } });
  expect(await completeDeletionOf(keys.team(id))).toBe(true);
  expect(await get(keys.team(id))).toBeUndefined();
});
