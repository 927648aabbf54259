import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Workspace } from '#resources/workspaces/records.ts';
import { type Api, startApi } from '#test/support/api.ts';

let api: Api;
let deleteWorkspace: typeof import('#removal/workspaces.ts').deleteWorkspace;
let getWorkspace: typeof import('#resources/workspaces/records.ts').getWorkspace;
beforeAll(async () => {
  api = await startApi();
  ({ deleteWorkspace } = await import('#removal/workspaces.ts'));
  ({ getWorkspace } = await import('#resources/workspaces/records.ts'));
});
afterAll(() => api.close());

const by = 'user-1';
const newWorkspace = async (): Promise<Workspace> => (await getWorkspace((await api.workspace()).id)) as Workspace;

it('a workspace in which a run was created meanwhile is deleted by force only', async () => {
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
