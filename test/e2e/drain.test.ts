import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { PlatformProcess } from './support/platform.ts';
import { Client, isFinalRun, until } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** `stepform drain` for a platform on this machine. */

let platform: PlatformProcess;
let client: Client;
beforeAll(async () => {
  platform = await PlatformProcess.start();
  client = new Client(platform.local.url, platform.local.token);
});
afterAll(() => platform.remove());

const drain = (...args: string[]): { child: ChildProcess; output(): string; ended: Promise<number | null> } => {
  const child = spawn(process.execPath, ['functions/clients/cli/stepform.mjs', 'drain', ...args], {
    env: { ...process.env, STEPFORM_DATA: platform.dataDir },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  return { child, output: () => output, ended: new Promise((done) => child.once('close', done)) };
};

it('refuses new runs and lists those that wait, until it is resumed', async () => {
  const workspace = await client.createWorkspace(platform.local.organization, newName());
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': resources(['a']) }));
  const run = await client.createRun(workspace.id, {}, version.id);
  await client.waitForRun(run.id, (now) => now.attributes.actions['is-confirmable'] || isFinalRun(now));

  const waiting = drain('--reason', 'upgrade to 0.2');
  await until(
    async () => waiting.output(),
    (text) => text.includes(run.id),
  );
  expect(waiting.output()).toContain('creates no runs: upgrade to 0.2');
  expect(waiting.output()).toMatch(
    new RegExp(`${run.id} +local/${workspace.attributes.name} +planned +waits for a user`),
  );
  const refused = { status: 409, message: expect.stringContaining('starts no new runs now: upgrade to 0.2') };
  await expect(client.createRun(workspace.id, {}, version.id)).rejects.toMatchObject(refused);
  waiting.child.kill('SIGTERM');
  await waiting.ended;

  // The drain outlives the command and the platform's process, and a run in progress continues.
  await platform.stop();
  await platform.start();
  const status = drain('--status');
  expect(await status.ended).toBe(0);
  expect(status.output()).toMatch(/creates no runs since .*: upgrade to 0\.2\n1 in progress:/);
  await client.act(run.id, 'apply');
  expect((await client.waitForRun(run.id, isFinalRun)).attributes.status).toBe('applied');

  const resumed = drain('--resume');
  expect(await resumed.ended).toBe(0);
  expect(resumed.output()).toContain('creates runs again');
  expect((await client.createRun(workspace.id, { 'plan-only': true }, version.id)).id).toMatch(/^run-/);
});
