import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { PlatformProcess } from './support/platform.ts';
import { descendants, isAlive, killAll } from './support/processes.ts';
import { Client, isFinalRun, type Resource, until, untilHeld } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** Stops and kills a separate platform; no data may be lost. */
describe('the local platform', () => {
  let platform: PlatformProcess;
  let client: Client;
  beforeAll(async () => {
    platform = await PlatformProcess.start();
    client = new Client(platform.local.url, platform.local.token);
  });
  afterAll(() => platform.remove());

  const start = async (
    files: Record<string, string>,
    attributes = {},
  ): Promise<{ workspace: Resource; run: Resource; version: Resource }> => {
    const workspace = await client.createWorkspace(platform.local.organization, newName());
    const version = await client.upload(workspace.id, await packFiles(files));
    return { workspace, version, run: await client.createRun(workspace.id, attributes, version.id) };
  };
  const confirmable = (run: Resource) => run.attributes.actions['is-confirmable'] || isFinalRun(run);
  const slow = (name: string, seconds: number) => `resource "terraform_data" "${name}" {
  provisioner "local-exec" {
    command = "sleep ${seconds}"
  }
}`;

  it('stops cleanly, and a run that waited for confirmation can still be confirmed after a kill -9', async () => {
    const { run, workspace } = await start({ 'main.tf': resources(['a']) });
    await client.waitForRun(run.id, confirmable);
    expect(await platform.stop('SIGTERM')).toBe(0);
    await platform.start();
    await platform.stop('SIGKILL');
    await platform.start();
    expect((await client.run(run.id)).attributes.actions['is-confirmable']).toBe(true);
    await client.act(run.id, 'apply');
    expect((await client.waitForRun(run.id, isFinalRun)).attributes.status).toBe('applied');
    expect((await client.get(`/workspaces/${workspace.id}/current-state-version`)).attributes.serial).toBe(1);
  });

  it('killed together with its terraform ends the run as errored, keeps the state, and locks the workspace', async () => {
    const after = 'resource "terraform_data" "after" {\n  depends_on = [terraform_data.late]\n}';
    const { workspace, run, version } = await start(
      { 'main.tf': `${resources(['quick'])}\n${slow('late', 60)}\n${after}` },
      { 'auto-apply': true },
    );
    const next = await client.createRun(workspace.id, {}, version.id);
    await client.waitForRun(run.id, ({ attributes }) => attributes.status === 'applying');
    // The quick resource is in the state before all processes are killed.
    const state = () => client.get(`/workspaces/${workspace.id}/current-state-version`).catch(() => undefined);
    await until(state, (version) => !!version);
    const victims = descendants(platform.local.pid);
    expect(victims.some(({ command }) => command.includes('terraform'))).toBe(true);
    await platform.stop('SIGKILL');
    killAll(victims);
    await platform.start();
    const ended = await client.waitForRun(run.id, isFinalRun);
    expect(ended.attributes.status).toBe('errored');
    expect(ended.attributes['end-reason']).toMatch(/The state may be stale: [12] of 3 resources recorded\./);
    expect((await state())?.attributes.resources.map(({ name }: { name: string }) => name)).toContain('quick');
    expect((await client.run(next.id)).attributes.status).toBe('pending');
    await untilHeld(client, workspace.id);
    await client.call('POST', `/workspaces/${workspace.id}/actions/force-unlock`);
    await client.waitForRun(next.id, confirmable);
  });

  it('killed alone finds its terraform again: the run continues and is applied', async () => {
    const { run } = await start({ 'main.tf': slow('short', 6) }, { 'auto-apply': true });
    await client.waitForRun(run.id, ({ attributes }) => attributes.status === 'applying');
    const survivors = descendants(platform.local.pid);
    await platform.stop('SIGKILL');
    expect(survivors.some(({ pid }) => isAlive(pid))).toBe(true);
    await platform.start();
    expect((await client.waitForRun(run.id, isFinalRun)).attributes.status).toBe('applied');
  });
});
