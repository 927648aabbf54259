import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Api } from '#test/support/api.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';
import type { ForgeServer } from './support/forge-server.ts';

/** Commits that no run needs any more: their files are deleted, and fetched again for later runs. */

const day = 86_400;

let followed: Followed;
let api: Api;
let forge: ForgeServer;
beforeAll(async () => {
  followed = await Followed.start();
  ({ api, forge } = followed);
});
afterAll(() => followed.close());
beforeEach(() => followed.reset());

const versionsOf = async ({ id }: { id: string }): Promise<Json[]> =>
  (await api.get(`workspaces/${id}/configuration-versions`)).body.data;
const statusOf = async (workspace: { id: string }): Promise<string> =>
  (await versionsOf(workspace))[0].attributes.status;

const connected = async (attributes: object = {}) => {
  await followed.has({ 'main.tf': '', 'README.md': '# Network' });
  const { token, client } = await followed.connection();
  const workspace = await followed.workspace(token, attributes);
  await followed.settleAndFetch();
  return { workspace, token, client };
};

/** What the sweep's check does after the interval of a day. */
const check = async () => {
  const { handler } = await import('#lifecycle/creation/fetch-commit.ts');
  await followed.sweepAfter(day + 1, async ({ name, event }) => {
    if (name === 'FetchCommitFunction') await handler(event as never);
  });
};

const end = async (workspace: { id: string }, status = 'applied') => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  for (const { id } of await followed.runsOf(workspace)) await update(keys.run(id), { set: { status } });
};

const start = ({ id }: { id: string }, version?: string) =>
  api.post(
    'runs',
    {},
    {
      workspace: { data: { type: 'workspaces', id } },
      ...(version ? { 'configuration-version': { data: { type: 'configuration-versions', id: version } } } : {}),
    },
  );

const objects = async (): Promise<string[]> => {
  const { listObjects } = await import('#platform/store/bucket.ts');
  const { repositoryId } = await import('#version-control/repositories.ts');
  const keys: string[] = [];
  for await (const { key } of listObjects('configurations/vcs/')) keys.push(key);
  const ids = await Promise.all(
    (await api.get('organizations/acme/oauth-clients')).body.data.map(async ({ relationships }: Json) =>
      repositoryId(relationships['oauth-tokens'].data[0]?.id ?? '', followed.identifier),
    ),
  );
  return keys.filter((key) => ids.some((id) => key.includes(`/${id}/`)));
};

const fetches = () => forge.asked('GET', new RegExp(`^/repos/${followed.identifier}/tarball/`)).length;

it('a commit stays while a run needs it and for an interval after, and is then deleted', async () => {
  const { workspace } = await connected();
  await check();
  await check();
  expect([await statusOf(workspace), (await objects()).length]).toEqual(['uploaded', 1]);
  await end(workspace);
  await check();
  expect(await statusOf(workspace)).toBe('uploaded');
  await check();
  const [version] = await versionsOf(workspace);
  expect([version.attributes.status, await objects()]).toEqual(['archived', []]);
  expect(version.attributes['status-timestamps']['archived-at']).toBeDefined();
  const { status, body } = await api.get(`configuration-versions/${version.id}/download`);
  expect([status, body.errors[0].detail]).toEqual([404, expect.stringContaining('The next run that uses it fetches')]);
  // The sweep has nothing left to do.
  const { queryAll, get } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { commitArchive } = (await get(keys.configurationVersion(version.id))) as Json;
  expect(await queryAll({ pk: keys.commitArchive(commitArchive).pk, prefix: 'CV#' })).toEqual([]);
  expect(await get(keys.commitArchive(commitArchive))).not.toHaveProperty('dueAt');
});

it('a later run has the archived commit fetched again, under another key', async () => {
  const { workspace } = await connected();
  const before = await objects();
  await end(workspace);
  await check();
  await check();
  const [{ id }] = await versionsOf(workspace);
  for (const named of [undefined, id]) {
    const { status, body } = await start(workspace, named);
    expect([status, body.data.relationships['configuration-version'].data.id]).toEqual([201, id]);
  }
  expect(await statusOf(workspace)).toBe('fetching');
  await followed.settleAndFetch();
  const [version] = await versionsOf(workspace);
  expect([version.attributes.status, version.attributes['status-timestamps']['archived-at']]).toEqual([
    'uploaded',
    undefined,
  ]);
  const after = await objects();
  expect([fetches(), after.length, after[0] === before[0]]).toEqual([2, 1, false]);
});

it('a run of another workspace, a saved plan and a plan of a pull request keep the commit', async () => {
  const { workspace, token } = await connected();
  const second = await followed.workspace(token);
  await followed.settleAndFetch();
  await end(workspace);
  for (const status of ['planned', 'planned_and_saved', 'pending', 'policy_override']) {
    await end(second, status);
    await check();
    await check();
    expect([status, await statusOf(workspace), await statusOf(second)]).toEqual([status, 'uploaded', 'uploaded']);
  }
  await end(second, 'discarded');
  await check();
  await check();
  expect([await statusOf(workspace), await statusOf(second), await objects()]).toEqual(['archived', 'archived', []]);
  expect((await start(second)).status).toBe(201);
  await followed.settleAndFetch();
  expect([await statusOf(workspace), await statusOf(second)]).toEqual(['archived', 'uploaded']);
  expect((await start(workspace)).status).toBe(201);
  expect([await statusOf(workspace), fetches()]).toEqual(['uploaded', 2]);
});

it.each([
  ['the forge does not have', () => forge.on('GET', /\/commits\//, { status: 404, body: {} })],
  ['the forge does not answer for', () => forge.on('GET', /\/commits\//, { status: 503, body: {} })],
  ['the connection may not read', () => forge.on('GET', /\/commits\//, { status: 401, body: {} })],
])('a commit that %s is kept', async (_, breaks) => {
  const { workspace } = await connected();
  await end(workspace);
  await check();
  breaks();
  await check();
  await check();
  expect([await statusOf(workspace), (await objects()).length]).toEqual(['uploaded', 1]);
});

it('a commit of a deleted connection is kept', async () => {
  const { workspace, client } = await connected();
  await end(workspace);
  await check();
  expect((await api.call('DELETE', `/api/v2/oauth-clients/${client.id}`)).status).toBe(204);
  await followed.settle();
  await check();
  expect(await statusOf(workspace)).toBe('uploaded');
  expect((await start(workspace)).status).toBe(201);
});

it('a run that is created while its commit is being archived has its files', async () => {
  const { workspace } = await connected();
  await end(workspace);
  await check();
  let started: Json;
  forge.answers.unshift(async ({ path }) => {
    if (path.includes('/commits/')) started ??= await start(workspace);
    return undefined;
  });
  await check();
  expect([started.status, await statusOf(workspace), (await objects()).length]).toEqual([201, 'uploaded', 1]);
  await end(workspace);
  await check();
  await check();
  expect(await statusOf(workspace)).toBe('archived');
});

it('an archived configuration keeps the README of its workspace, and stays the current one', async () => {
  const { workspace } = await connected();
  await end(workspace);
  await check();
  await check();
  const { body } = await api.get(`workspaces/${workspace.id}?include=readme,current_configuration_version`);
  const included = (type: string) => body.included?.find((one: Json) => one.type === type)?.attributes;
  expect(included('workspace-readme')['raw-markdown']).toBe('# Network');
  expect((await versionsOf(workspace))[0].attributes.status).toBe('archived');
  const [{ id }] = await versionsOf(workspace);
  expect((await api.post(`configuration-versions/${id}/actions/archive`)).status).toBe(409);
});

it('a push of the archived commit to another workspace fetches it again', async () => {
  const { workspace, token } = await connected();
  await end(workspace);
  await check();
  await check();
  const second = await followed.workspace(token);
  await followed.settleAndFetch();
  expect([await statusOf(workspace), await statusOf(second), fetches()]).toEqual(['archived', 'uploaded', 2]);
});

it('a newer commit does not keep an older one', async () => {
  const { workspace } = await connected();
  const hook = new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname;
  followed.head = sha(1);
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.settleAndFetch();
  const [newer, older] = await followed.runsOf(workspace).then((runs) => runs.reverse());
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(keys.run(older.id), { set: { status: 'applied' } });
  await check();
  await check();
  const statuses = (await versionsOf(workspace)).map(({ attributes }) => attributes.status);
  expect([newer.status, statuses]).toEqual(['pending', ['uploaded', 'archived']]);
});

it('the files of a commit stay for other workspaces when those of one version are permanently deleted', async () => {
  const { workspace, token } = await connected();
  await followed.workspace(token);
  await followed.settleAndFetch();
  await end(workspace);
  const [version] = await versionsOf(workspace);
  followed.head = sha(1);
  await followed.deliver(new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname, 'push', push(0, 1));
  await followed.settleAndFetch();
  for (const action of ['soft_delete_backing_data', 'permanently_delete_backing_data']) {
    const answer = await api.call('POST', `configuration-versions/${version.id}/actions/${action}`);
    expect([action, answer.status, answer.body?.errors]).toEqual([action, 200, undefined]);
  }
  const { objectSize } = await import('#platform/store/bucket.ts');
  for (const key of await objects()) expect(await objectSize(key)).toBeGreaterThan(0);
});
