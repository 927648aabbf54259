import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { PlatformProcess } from './support/platform.ts';
import { runners, send } from './support/runners.ts';
import { Client, isFinalRun, type Resource, until } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

let platform: PlatformProcess;
let client: Client;
const file = () => `${platform.dataDir}.backup`;
beforeAll(async () => {
  platform = await PlatformProcess.start();
  client = new Client(platform.local.url, platform.local.token);
});
afterAll(async () => {
  await platform.remove();
  await rm(file(), { force: true });
});

const keep = (what: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, ['functions/clients/cli/stepform.mjs', what, ...args], {
    env: { ...process.env, STEPFORM_DATA: platform.dataDir },
  });
const prepare = async (configuration: string) => {
  const workspace = await client.createWorkspace(platform.local.organization, newName());
  return { workspace, version: await client.upload(workspace.id, await packFiles({ 'main.tf': configuration })) };
};
const start = async (configuration: string, attributes = {}) => {
  const { workspace, version } = await prepare(configuration);
  return { workspace, version, run: await client.createRun(workspace.id, attributes, version.id) };
};
const isConfirmable = ({ attributes }: Resource) => attributes.actions['is-confirmable'];
const noRunners = () =>
  until(
    async () => runners(platform.dataDir),
    ({ length }) => length === 0,
    // A runner is ready for two minutes.
    240_000,
  );

it('a lost platform continues from its backup', async () => {
  const { workspace, run } = await start(resources(['a']));
  await client.waitForRun(run.id, isConfirmable);
  await platform.stop();
  // It is ready for the apply, for two minutes at most.
  const [runner] = runners(platform.dataDir);
  expect((await keep('backup', file())).stdout).toContain('It was in use');
  await expect(keep('restore', file(), '--force')).rejects.toMatchObject({
    stderr: expect.stringContaining('still running'),
  });
  // The stopped runner tries to reach the platform for as long as a container would have.
  if (runner) send(runner, 'SIGTERM', 'process');
  await noRunners();
  const { stdout } = await keep('backup', file(), '--force');
  expect(stdout).toContain('keep it private');
  expect(stdout).not.toContain('It was in use');
  await expect(keep('restore', file())).rejects.toMatchObject({ stderr: expect.stringContaining('--force') });
  // `--force`, because the folder also contains the platform's output, which this test reads.
  await keep('restore', file(), '--force');
  await platform.start();
  await client.act(run.id, 'apply');
  expect((await client.waitForRun(run.id, isFinalRun)).attributes.status).toBe('applied');
  expect((await client.get(`/workspaces/${workspace.id}/current-state-version`)).attributes.serial).toBe(1);

  // The same backup, after its plan was applied: the plan must not be applied again.
  await platform.stop();
  for (const left of runners(platform.dataDir)) send(left, 'SIGKILL');
  await noRunners();
  const { stdout: advice } = await keep('restore', file(), '--force');
  const [, time = ''] = /start --recovered-to (\S+)/.exec(advice) ?? [];
  await platform.start(['--recovered-to', time]);
  expect((await client.run(run.id)).attributes).toMatchObject({
    status: 'errored',
    'end-reason': expect.stringContaining(`The platform was restored to ${time}`),
  });
  await expect(client.act(run.id, 'apply')).rejects.toMatchObject({ status: 409 });
});

it('a backup of a platform in use restores everything that its table refers to, and the runs in progress end first', async () => {
  const done = await start(resources(['done']), { 'auto-apply': true });
  expect((await client.waitForRun(done.run.id, isFinalRun)).attributes.status).toBe('applied');
  const waiting = await start(resources(['waiting']));
  await client.waitForRun(waiting.run.id, isConfirmable);
  const queued = await client.createRun(waiting.workspace.id, { 'auto-apply': true }, waiting.version.id);
  const applying = await start(resources(['slow'], 600), { 'auto-apply': true });
  await client.waitForRun(applying.run.id, ({ attributes }) => attributes.status === 'applying');
  // Many records are written meanwhile.
  let isOver = false;
  const others: string[] = [];
  const writer = (async () => {
    while (!isOver) others.push((await prepare(resources(['other']))).version.id);
  })();
  await until(
    async () => others.length,
    (count) => count > 3,
    60_000,
  );
  expect((await keep('backup', file(), '--force')).stdout).toContain('It was in use');
  isOver = true;
  await writer;

  // Then the plan is applied, and the platform is lost.
  await client.act(waiting.run.id, 'apply');
  expect((await client.waitForRun(waiting.run.id, isFinalRun)).attributes.status).toBe('applied');
  await platform.stop('SIGKILL');
  for (const runner of runners(platform.dataDir)) send(runner, 'SIGKILL');
  await noRunners();
  expect((await keep('restore', file(), '--force')).stdout).toContain('It ends the runs that were in progress');
  await platform.start();

  // Immediately, before the platform serves requests. No run applies an earlier plan, and no queued run starts.
  for (const { id } of [waiting.run, queued, applying.run]) {
    const { attributes } = await client.run(id);
    expect(attributes).toMatchObject({
      status: 'errored',
      'end-reason': expect.stringContaining('The platform was restored to'),
    });
    await expect(client.act(id, 'apply')).rejects.toMatchObject({ status: 409 });
  }
  const state = await client.get(`/workspaces/${done.workspace.id}/current-state-version`);
  const download = await fetch(state.attributes['hosted-state-download-url'], {
    headers: { authorization: `Bearer ${platform.local.token}` },
  });
  expect(await download.json()).toMatchObject({ serial: 1 });
  for (const id of others) {
    const version = await client.get(`/configuration-versions/${id}`).catch(() => undefined);
    if (version?.attributes.status !== 'uploaded') continue;
    const response = await fetch(`${platform.local.url}/api/v2/configuration-versions/${id}/download`, {
      headers: { authorization: `Bearer ${platform.local.token}` },
    });
    expect([id, response.status]).toEqual([id, 200]);
  }
  // The workspaces are usable.
  const again = await client.createRun(waiting.workspace.id, { 'auto-apply': true }, waiting.version.id);
  expect((await client.waitForRun(again.id, isFinalRun)).attributes.status).toBe('applied');
});
