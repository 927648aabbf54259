import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { detailOf } from '#test/support/api.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';
import type { Reply } from './support/forge-server.ts';

/** Commits that cannot be fetched, and branches that are deleted and recreated. */

const waited = vi.hoisted(() => ({ until: undefined as ((ms: number) => Promise<void>) | undefined }));
vi.mock('node:timers/promises', async (original) => {
  const actual = await original<typeof import('node:timers/promises')>();
  return { ...actual, setTimeout: (ms: number) => waited.until?.(ms) ?? actual.setTimeout(ms) };
});
afterEach(() => {
  waited.until = undefined;
});

const followed = await Followed.start();
const { api, forge } = followed;
beforeEach(() => followed.reset());

const newest = async ({ id }: { id: string }): Promise<Json> =>
  (await api.get(`workspaces/${id}/configuration-versions`)).body.data[0].attributes;

const start = ({ id }: { id: string }, version?: string) =>
  api.post(
    'runs',
    {},
    {
      workspace: { data: { type: 'workspaces', id } },
      ...(version ? { 'configuration-version': { data: { type: 'configuration-versions', id: version } } } : {}),
    },
  );

const connected = async (reply: Reply) => {
  forge.on('GET', /\/tarball\//, reply);
  const { token } = await followed.connection();
  const workspace = await followed.workspace(token);
  await followed.settleAndFetch();
  return workspace;
};

it.each([
  ['a rejected token', { status: 401, body: {} }, 'may not read'],
  ['an invalid archive', { body: Buffer.from('no gzip') }, 'is damaged'],
])('a version reports why its commit could not be fetched: %s', async (_, reply, words) => {
  const before = process.env.TMPDIR;
  const folder = await mkdtemp(join(tmpdir(), 'fetching-'));
  process.env.TMPDIR = folder;
  const workspace = await connected(reply).finally(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  expect(await newest(workspace)).toMatchObject({ status: 'errored', 'error-message': expect.stringContaining(words) });
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

it('a run of a commit that was refused ends in fetching with the reason of its version', async () => {
  forge.on('GET', /\/tarball\//, { status: 403, body: {} });
  const { token } = await followed.connection();
  const workspace = await followed.workspace(token, { 'queue-all-runs': false });
  await followed.settleAndFetch();
  const reason = (await newest(workspace))['error-message'];
  expect(reason).toContain('The connection may not read');
  const [version] = (await api.get(`workspaces/${workspace.id}/configuration-versions`)).body.data;
  const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const { createFrom } = await import('#lifecycle/creation/create-run.ts');
  const { noPermissions } = await import('#api/permissions/granted.ts');
  const run = await createFrom({
    workspace: (await getWorkspace(workspace.id))!,
    version: (await getConfigurationVersion(version.id))!,
    granted: noPermissions,
    createdBy: 'vcs',
    source: 'tfe-configuration-version',
  });
  const { handler: enter } = await import('#lifecycle/states/fetching.ts');
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(keys.run(run.id), { remove: ['wait'] });
  await enter({ runId: run.id, taskToken: 'token' } as never);
  const [ended] = await followed.runsOf(workspace);
  expect([ended.status, ended.verdicts.fetching, ended.failure]).toMatchObject(['fetching', 'failed', reason]);
});

it('a commit that the forge does not find is requested three times, because its replicas may lag', async () => {
  waited.until = async () => {};
  const workspace = await connected({ status: 404, body: {} });
  const words = expect.stringMatching(/^Commit \w{7} no longer exists in .* \(force-pushed away/);
  expect(await newest(workspace)).toMatchObject({ status: 'errored', 'error-message': words });
  expect(forge.asked('GET', new RegExp(`^/repos/${followed.identifier}/tarball/`))).toHaveLength(3);
});

it('a fetch waits as long as the forge requests, without calling it, and then continues', async () => {
  const workspace = await connected({ status: 429, headers: { 'retry-after': '120' }, body: {} });
  expect((await newest(workspace)).status).toBe('fetching');
  const calls = forge.calls.length;
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { handler } = await import('#lifecycle/creation/fetch-commit.ts');
  const token = workspace.attributes['vcs-repo']['oauth-token-id'];
  const { repositoryId } = await import('#version-control/repositories.ts');
  const archive = `${repositoryId(token, followed.identifier)}#${sha(0)}`;
  await handler({ archive });
  expect([forge.calls.length, (await newest(workspace)).status]).toEqual([calls, 'fetching']);
  await update(keys.oauthToken(token), { remove: ['pausedUntil'] });
  await followed.has({ 'main.tf': '' });
  await handler({ archive });
  expect((await newest(workspace)).status).toBe('uploaded');
});

it('a deleted branch keeps its configuration, and runs when it is recreated', async () => {
  await followed.has({ 'main.tf': '' });
  const { workspace, hook } = await followed.connect();
  const gone = { ref: 'refs/heads/main', before: sha(0), after: '0'.repeat(40), deleted: true };
  await followed.deliver(hook, 'push', gone);
  await followed.settle();
  expect((await followed.messages())[0]).toContain('was deleted');
  followed.head = sha(4);
  await followed.deliver(hook, 'push', { ...push(0, 4), before: '0'.repeat(40), created: true });
  await followed.settle();
  expect((await followed.commitsOf(workspace)).at(-1)).toBe(sha(4));
});

it('an older commit to which the branch was reset by force runs in every workspace', async () => {
  await followed.has({ 'main.tf': '' });
  const { workspace, hook } = await followed.connect({ 'trigger-patterns': ['nothing/**'] });
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.settle();
  expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
  await followed.deliver(hook, 'push', { ...push(1, 0), forced: true });
  await followed.settle();
  expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(0)]);
});

describe('a forge that is down while a commit is to be fetched', () => {
  /** Delays of the product take no time: the clock advances instead. The sweep runs every minute. */
  const downFor = async (seconds: number) => {
    waited.until = async (ms) => void vi.setSystemTime(Date.now() + ms);
    const fetching = await import('#lifecycle/creation/fetch-commit.ts');
    await followed.has({ 'main.tf': '' });
    const { token } = await followed.connection();
    const workspace = await followed.workspace(token);
    await followed.settle();
    const began = Date.now();
    const isDown = () => Date.now() - began < seconds * 1000;
    forge.answers.unshift(({ path }) =>
      isDown() && path.includes('/tarball/') ? { status: 503, body: {} } : undefined,
    );
    const { repositoryId } = await import('#version-control/repositories.ts');
    await fetching.handler({ archive: `${repositoryId(token, followed.identifier)}#${sha(0)}` });
    for (let minute = 0; minute < 60 && (await newest(workspace)).status === 'fetching'; minute++) {
      await followed.sweepAfter(60, async ({ name, event }) => {
        if (name === 'FetchCommitFunction') await fetching.handler(event as never);
      });
    }
    const minutes = (Date.now() - began) / 60_000;
    return { minutes, version: await newest(workspace) };
  };
  it('for three minutes delays the run, which then has the commit', async () => {
    const { version, minutes } = await downFor(180);
    expect(version).toMatchObject({ status: 'uploaded', 'error-message': null });
    expect(minutes).toBeGreaterThan(3);
    expect(minutes).toBeLessThan(8);
    expect(forge.asked('GET', new RegExp(`^/repos/${followed.identifier}/tarball/`)).length).toBeLessThan(8);
  });

  it('is named by the waiting run, with the next attempt, and the run can be canceled', async () => {
    const delays: number[] = [];
    const seen: Json[] = [];
    await followed.has({ 'main.tf': '' });
    const { token } = await followed.connection();
    const workspace = await followed.workspace(token);
    await followed.settle();
    const [run] = await followed.runsOf(workspace);
    const { handler: enter } = await import('#lifecycle/states/fetching.ts');
    const { update } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    await update(keys.run(run.id), { remove: ['wait'] });
    await enter({ runId: run.id, taskToken: 'token' } as never);
    const shown = async () => (await api.get(`runs/${run.id}`)).body.data.attributes;
    expect(await shown()).toMatchObject({ status: 'fetching', 'fetch-retry': null });
    waited.until = async (ms) => {
      if (ms) seen.push((await shown())['fetch-retry']);
      delays.push(ms);
      vi.setSystemTime(Date.now() + ms);
    };
    forge.answers.unshift(({ path }) => (path.includes('/tarball/') ? { status: 503, body: {} } : undefined));
    const { repositoryId } = await import('#version-control/repositories.ts');
    const { handler } = await import('#lifecycle/creation/fetch-commit.ts');
    await handler({ archive: `${repositoryId(token, followed.identifier)}#${sha(0)}` });
    const reason = `${followed.identifier} could not be fetched: GitHub answered 503`;
    seen.push((await shown())['fetch-retry']);
    expect(seen.map((retry) => retry.reason)).toEqual([`${reason}.`, `${reason}.`, expect.stringContaining(reason)]);
    const inSeconds = (Date.parse(seen[2]['next-attempt-at']) - Date.now()) / 1000;
    expect([delays.slice(1), Math.round(inSeconds)]).toEqual([[5_000, 30_000], 120]);
    expect((await api.post(`runs/${run.id}/actions/cancel`)).status).toBe(202);
    expect((await followed.runsOf(workspace))[0].cancel).toBeDefined();
    // A user who starts a run does not wait for the next attempt.
    api.aws.invoked.length = 0;
    expect((await start(workspace)).status).toBe(201);
    expect(api.aws.invoked.map(({ name }) => name)).toContain('FetchCommitFunction');
  });

  it('for hours ends the attempts with a message', async () => {
    const { version, minutes } = await downFor(5 * 3600);
    expect(version).toMatchObject({
      status: 'errored',
      'error-message': expect.stringMatching(/could not be fetched: GitHub answered 503; tried for [12]\d minutes/),
    });
    expect(minutes).toBeLessThan(40);
  });
});

describe('a run that a user starts', () => {
  const versionOf = (answer: Json): string => answer.body.data.relationships['configuration-version'].data.id;
  const versionsOf = async ({ id }: { id: string }): Promise<Json[]> =>
    (await api.get(`workspaces/${id}/configuration-versions`)).body.data;

  it('fetches a commit again after a failure, and uses no older one', async () => {
    await followed.has({ 'main.tf': '' });
    const { token } = await followed.connection();
    const workspace = await followed.workspace(token);
    await followed.settleAndFetch();
    const hook = new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname;
    forge.on('GET', /\/tarball\//, { status: 401, body: {} });
    followed.head = sha(1);
    await followed.deliver(hook, 'push', push(0, 1));
    await followed.settleAndFetch();
    const [failed, first] = await versionsOf(workspace);
    expect([failed.attributes.status, first.attributes.status]).toEqual(['errored', 'uploaded']);
    await api.patch(`oauth-clients/${(await clientOf(token)).id}`, { 'oauth-token-string': 'good' });
    await followed.has({ 'main.tf': '' });
    for (const named of [undefined, failed.id]) {
      const started = await start(workspace, named);
      expect([started.status, started.body.data && versionOf(started)]).toEqual([201, failed.id]);
    }
    expect((await newest(workspace)).status).toBe('fetching');
    await followed.settleAndFetch();
    expect(await newest(workspace)).toMatchObject({ status: 'uploaded', 'error-message': null });
  });

  it('fetches a commit again after it has expired', async () => {
    await followed.has({ 'main.tf': '' });
    const { token } = await followed.connection();
    const workspace = await followed.workspace(token);
    await followed.settleAndFetch();
    const [version] = await versionsOf(workspace);
    const fetches = () => forge.asked('GET', new RegExp(`^/repos/${followed.identifier}/tarball/`)).length;
    vi.setSystemTime(Date.now() + 2 * 86_400_000);
    expect((await start(workspace, version.id)).status).toBe(201);
    expect([(await newest(workspace)).status, fetches()]).toEqual(['uploaded', 1]);
    const { update } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    const { repositoryId } = await import('#version-control/repositories.ts');
    const archive = keys.commitArchive(`${repositoryId(token, followed.identifier)}#${sha(0)}`);
    for (const key of [archive, keys.configurationVersion(version.id)]) {
      await update(key, { set: { 'archive.key': 'configurations/vcs/none' } });
    }
    expect((await start(workspace, version.id)).status).toBe(201);
    expect((await newest(workspace)).status).toBe('fetching');
    await followed.settleAndFetch();
    expect([(await newest(workspace)).status, fetches()]).toEqual(['uploaded', 2]);
  });

  it('uses an archived commit', async () => {
    await followed.has({ 'main.tf': '' });
    const { token } = await followed.connection();
    const workspace = await followed.workspace(token);
    await followed.settleAndFetch();
    const hook = new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname;
    followed.head = sha(1);
    await followed.deliver(hook, 'push', push(0, 1));
    await followed.settleAndFetch();
    const [, { id }] = await versionsOf(workspace);
    expect((await api.post(`configuration-versions/${id}/actions/archive`)).status).toBe(202);
    const status = async () => (await api.get(`configuration-versions/${id}`)).body.data.attributes.status;
    expect(await status()).toBe('archived');
    expect((await start(workspace, id)).status).toBe(201);
    await followed.settleAndFetch();
    expect(await status()).toBe('uploaded');
  });

  it('without a configuration is rejected with the remedy', async () => {
    const { token } = await followed.connection();
    const refused = await start(await followed.workspace(token));
    expect(detailOf(refused)).toEqual([
      422,
      expect.stringContaining(`no configuration from ${followed.identifier} yet; look for its newest commit`),
    ]);
  });

  const clientOf = async (token: string) =>
    (await api.get(`oauth-tokens/${token}`)).body.data.relationships['oauth-client'].data;
});
