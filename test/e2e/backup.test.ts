import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun, until } from '../../functions/client/client.ts';
import { PlatformProcess } from './support/platform.ts';
import { runners, send } from './support/runners.ts';
import { newName, resources } from './support/world.ts';

let platform: PlatformProcess;
beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(async () => {
  await platform.remove();
  await rm(`${platform.dataDir}.backup`, { force: true });
});

const keep = (what: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join('functions', 'cli', 'stepform.mjs'), what, ...args], {
    env: { ...process.env, STEPFORM_DATA: platform.dataDir },
  });

it('a lost platform continues from its backup', async () => {
  const client = new Client(platform.local.url, platform.local.token);
  const workspace = await client.createWorkspace(platform.local.organization, newName());
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': resources(['a']) }));
  const run = await client.createRun(workspace.id, {}, version.id);
  await client.waitForRun(run.id, ({ attributes }) => attributes.actions['is-confirmable']);
  const file = `${platform.dataDir}.backup`;
  await expect(keep('backup', file)).rejects.toMatchObject({ stderr: expect.stringContaining('already runs on') });

  await platform.stop();
  // It stands by since the plan, for two minutes at most.
  const [runner] = runners(platform.dataDir);
  await expect(keep('backup', file)).rejects.toMatchObject({ stderr: expect.stringContaining('still at work') });
  // It tries for a while to reach the platform, as long as a container's host would let it.
  if (runner) send(runner, 'SIGTERM', 'process');
  await until(
    async () => runners(platform.dataDir),
    ({ length }) => length === 0,
    240_000,
  );
  expect((await keep('backup', file)).stdout).toContain('keep it private');
  await expect(keep('restore', file)).rejects.toMatchObject({ stderr: expect.stringContaining('--force') });
  // Its output is read from there too, by this test.
  await keep('restore', file, '--force');
  await platform.start();
  await client.act(run.id, 'apply');
  expect((await client.waitForRun(run.id, isFinalRun)).attributes.status).toBe('applied');
  expect((await client.get(`/workspaces/${workspace.id}/current-state-version`)).attributes.serial).toBe(1);
});
