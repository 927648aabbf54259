import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { PlatformProcess } from './support/platform.ts';
import { Client, isFinalRun, type Resource } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** Other programs take the platform's ports while it is down. */
describe('runners of a platform that comes back on other ports', () => {
  let platform: PlatformProcess;
  const others: Server[] = [];
  beforeAll(async () => {
    platform = await PlatformProcess.start({ PORT: '0', HTTPS_PORT: '0' });
    // Two runs, because later runners must follow the platform like the first one.
    for (let runs = 0; runs < 2; runs++) {
      const { run } = await start(resources(['a']), { 'plan-only': true });
      expect((await client().waitForRun(run.id, isFinalRun)).attributes.status).toBe('planned_and_finished');
    }
  });
  afterAll(async () => {
    for (const server of others) server.close();
    await platform.remove();
  });

  const client = () => new Client(platform.local.url, platform.local.token);
  const start = async (configuration: string, attributes = {}): Promise<{ run: Resource; workspace: Resource }> => {
    const workspace = await client().createWorkspace(platform.local.organization, newName());
    const version = await client().upload(workspace.id, await packFiles({ 'main.tf': configuration }));
    return { workspace, run: await client().createRun(workspace.id, attributes, version.id) };
  };
  const ports = () =>
    [platform.local.url, platform.local.httpsUrl, platform.local.awsEndpointUrl].map((url) =>
      Number(new URL(url).port),
    );
  const takeOver = (port: number): Promise<void> => {
    // Misdirected connections get no response.
    const server = createServer((socket) => socket.destroy());
    others.push(server);
    return new Promise((resolve, reject) => server.on('error', reject).listen(port, '127.0.0.1', resolve));
  };
  const restartElsewhere = async (): Promise<void> => {
    const before = ports();
    await platform.stop();
    for (const port of before) await takeOver(port);
    await platform.start();
    for (const port of ports()) expect(before).not.toContain(port);
  };
  /** Number of runners that were started for it. */
  const runnersOf = ({ id }: Resource): number =>
    readdirSync(join(platform.dataDir, 'tasks'))
      .filter((name) => name.endsWith('.json'))
      .filter((name) => JSON.parse(readFileSync(join(platform.dataDir, 'tasks', name), 'utf8')).run === id).length;

  it('apply a confirmed plan, and continue an apply, including log and state, however often the platform moves', async () => {
    const { run: planned } = await start(resources(['a']));
    await client().waitForRun(planned.id, (now) => now.attributes.actions['is-confirmable'] || isFinalRun(now));
    const { run, workspace } = await start(`${resources(['slow'], 12)}\noutput "word" { value = "kept" }`, {
      'auto-apply': true,
    });
    await client().waitForRun(run.id, ({ attributes }) => attributes.status === 'applying');
    await restartElsewhere();
    await client().act(planned.id, 'apply');
    expect((await client().waitForRun(planned.id, isFinalRun)).attributes.status).toBe('applied');
    expect(runnersOf(planned), 'the runner that stayed ready').toBe(1);
    await restartElsewhere();
    const ended = await client().waitForRun(run.id, isFinalRun);
    expect(ended.attributes.status).toBe('applied');
    expect(runnersOf(run)).toBe(1);
    const log = await fetch((await client().phase(ended, 'apply')).attributes['log-read-url']);
    expect(await log.text()).toContain('Apply complete!');
    const outputs = await client().list(`/workspaces/${workspace.id}/current-state-version-outputs`);
    expect(outputs.map(({ attributes }) => attributes.value)).toEqual(['kept']);
  });

  it('need not follow it by default: it restarts on its former ports, even without local.json', async () => {
    const before = ports();
    await platform.stop();
    rmSync(join(platform.dataDir, 'local.json'));
    await platform.start();
    expect(ports()).toEqual(before);
  });
});
