import { expect, it } from 'vitest';
import { keys, objects } from '#platform/store/keys.ts';
import type { NewConfigurationVersion } from '#resources/configurations/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { gzipHead, uniqueName } from '#test/support/api.ts';
import { startAws } from '#test/support/aws.ts';
import { startStorage } from '#test/support/storage.ts';

const aws = await startAws();
const storage = await startStorage();
const { putObject } = await import('#platform/store/bucket.ts');
const table = await import('#platform/store/table.ts');
const store = await import('#resources/configurations/records.ts');

const create = (workspaceId: string, change: Partial<NewConfigurationVersion> = {}) =>
  store.createConfigurationVersion({
    organization: 'acme',
    workspaceId,
    autoQueueRuns: false,
    speculative: false,
    provisional: false,
    source: 'tfe-api',
    createdBy: 'user-1',
    ...change,
  });
const upload = (id: string) => putObject(objects.upload(`${id}.tar.gz`), gzipHead);

it('a configuration version is pending until its upload, and uploaded afterwards', async () => {
  const version = await create(uniqueName('ws'));
  expect((await store.checkUpload(version)).status).toBe('pending');
  await upload(version.id);
  const uploaded = await store.checkUpload(version);
  expect(uploaded).toMatchObject({ status: 'uploaded', size: gzipHead.length });
  expect(uploaded.statusTimestamps['uploaded-at']).toMatch(/Z$/);
  storage.calls.length = 0;
  expect(await store.checkUpload(uploaded)).toEqual(uploaded);
  expect(storage.calls).toEqual([]);
});

it('a configuration version keeps the first result of two concurrent calls', async () => {
  const version = await create(uniqueName('ws'));
  await upload(version.id);
  const both = await Promise.all([store.checkUpload(version), store.checkUpload(version)]);
  expect(both[0]).toEqual(both[1]);
});

it('a run uses the newest version that can be applied', async () => {
  const { latestConfigurationVersion: latest } = await import('#resources/configurations/latest.ts');
  const workspaceId = uniqueName('ws');
  expect(await latest(workspaceId)).toBeUndefined();
  const newest = await create(workspaceId);
  await upload(newest.id);
  for (const change of [{ speculative: true }, { provisional: true }]) {
    await upload((await create(workspaceId, change)).id);
  }
  await create(workspaceId);
  expect((await latest(workspaceId))?.id).toBe(newest.id);
});

it('a list has the newest versions first, in pages', async () => {
  const workspaceId = uniqueName('ws');
  await table.create({ ...keys.workspace(workspaceId), id: workspaceId });
  const createdIds: string[] = [];
  for (let i = 0; i < 3; i++) createdIds.unshift((await create(workspaceId)).id);
  const workspace = (await table.get(keys.workspace(workspaceId))) as Workspace;
  const before = aws.itemsRead;
  const first = await store.listConfigurationVersions(workspace, { page: 1, size: 2 });
  expect(aws.itemsRead - before).toBe(4);
  const second = await store.listConfigurationVersions(workspace, { page: 2, size: 2 });
  expect([...first.items, ...second.items].map(({ id }) => id).sort()).toEqual([...createdIds].sort());
  expect([first.total, first.items.length, second.items.length]).toEqual([3, 2, 1]);
});
