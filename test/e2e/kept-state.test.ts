import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { type Platform, startPlatform, synthesizedApplication } from '#infra/local/commands/platform.ts';
import { type Runner, runners, send } from './support/runners.ts';
import { Client, isFinalRun, until } from './support/waiting.ts';

/** The maximum time that a stopped runner tries to reach its platform (runner/program/control.ts), and a margin. */
const lastCallMs = 150_000;
const patientMs = 240_000;

describe('a platform that was down when an apply ended', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stepform-kept-'));
  // Terraform, possibly as another user, looks for a file there.
  chmodSync(dataDir, 0o711);
  let platform: Platform | undefined;
  const start = async () => {
    platform = await startPlatform({ dataDir, port: 0, httpsPort: 0, application: synthesizedApplication() });
    return new Client(platform.local.url, platform.local.token);
  };
  afterAll(async () => {
    await platform?.close();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  });

  it('restores the state that the runner kept, and unlocks the workspace', async () => {
    const go = join(dataDir, 'go');
    const configuration = `resource "terraform_data" "quick" {}
resource "terraform_data" "late" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "until [ -e ${go} ]; do sleep 0.1; done"
  }
}`;
    const before = await start();
    const workspace = await before.createWorkspace(platform?.local.organization ?? '', 'kept');
    const version = await before.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
    const run = await before.createRun(workspace.id, { 'auto-apply': true }, version.id);
    const state = (client: Client) =>
      client.get(`/workspaces/${workspace.id}/current-state-version`).catch(() => undefined);
    await until(() => state(before), Boolean, patientMs);

    const [runner] = runners(dataDir).filter(({ startedBy }) => startedBy === run.id) as [Runner];
    await platform?.close({ leaveRunners: true });
    platform = undefined;
    // Only the runner knows the changes from now on; stopping it makes it give up within two minutes.
    writeFileSync(go, '');
    send(runner, 'SIGTERM', 'process');
    const folder = join(dataDir, 'unsaved-states');
    await until(
      async () => existsSync(folder) && readdirSync(folder),
      (files) => files && files.length === 1,
      lastCallMs,
    );

    const after = await start();
    const ended = await after.waitForRun(run.id, isFinalRun, patientMs);
    expect(ended.attributes.status).toBe('errored');
    const { attributes } = await until(
      () => after.get(`/workspaces/${workspace.id}`),
      (now) => !now.attributes.locked,
      patientMs,
    );
    expect(attributes['resource-count']).toBe(2);
    const { 'end-reason': reason } = (await after.run(run.id)).attributes;
    expect(reason).toMatch(
      /The workspace now has the newest state \(serial \d+\), which the runner had kept on its disk\.$/,
    );
    // Deleted when the platform has answered, after the workspace was unlocked.
    await until(
      async () => readdirSync(folder),
      (files) => files.length === 0,
    );
    // The runner alone retries for one and a half minutes.
  }, 360_000);
});
