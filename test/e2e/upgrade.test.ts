import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun, type Resource } from '../../functions/client/client.ts';
import { PlatformProcess } from './support/platform.ts';
import { newName, resources } from './support/world.ts';

/** Before environments, version control and the registry: the oldest version whose data an upgrade takes and gives back. */
const formerCommit = 'f701e42';

const here = resolve(import.meta.dirname, '../..');

const isThere = (): boolean => {
  try {
    execFileSync('git', ['cat-file', '-e', `${formerCommit}^{commit}`], { cwd: here, stdio: 'ignore' });
    return true;
  } catch {
    console.warn(`Upgrades were not tested: commit ${formerCommit} is not in this checkout (a shallow clone?).`);
    return false;
  }
};

/** What the former version wrote is used by this one, and what this one wrote by the former one again. */
describe.skipIf(!isThere())('an upgrade and a rollback', () => {
  const former = mkdtempSync(join(tmpdir(), 'stepform-former-'));
  let platform: PlatformProcess;
  let client: Client;
  beforeAll(async () => {
    const tar = execFileSync('git', ['archive', formerCommit], { cwd: here, maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', former], { input: tar });
    symlinkSync(join(here, 'node_modules'), join(former, 'node_modules'));
    platform = await PlatformProcess.start({}, former);
    client = new Client(platform.local.url, platform.local.token);
  });
  afterAll(async () => {
    await platform.remove();
    rmSync(former, { recursive: true, force: true, maxRetries: 5 });
  });

  const restart = async (checkout: string): Promise<void> => {
    await platform.stop();
    platform.checkout = checkout;
    await platform.start();
  };
  const main = `${resources(['a'])}\nvariable "secret" {\n  sensitive = true\n}\noutput "length" {\n  value = nonsensitive(length(var.secret))\n}\n`;
  const createWorkspace = async () => {
    const workspace = await client.createWorkspace(platform.local.organization, newName());
    const attributes = { key: 'secret', value: 'four', category: 'terraform', sensitive: true };
    await client.setVariable(workspace.id, attributes);
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': main }));
    const run = (attributes: Record<string, unknown> = {}) => client.createRun(workspace.id, attributes, version.id);
    const serial = async () =>
      (await client.get(`/workspaces/${workspace.id}/current-state-version`)).attributes.serial as number;
    return { workspace, run, serial };
  };
  const confirmable = (run: Resource) => run.attributes.actions['is-confirmable'] || isFinalRun(run);
  /** With the reason, where it is none that was wanted. */
  const status = async (run: Resource): Promise<string> => {
    const { status: reached, 'end-reason': reason } = (await client.waitForRun(run.id, isFinalRun, 120_000)).attributes;
    return reason ? `${reached}: ${reason}` : reached;
  };

  it('keep runs, variables and states, and finish what the other version began', async () => {
    const applied = await createWorkspace();
    expect(await status(await applied.run({ 'auto-apply': true }))).toBe('applied');
    const waiting = await createWorkspace();
    const first = await waiting.run();
    const second = await waiting.run();
    await client.waitForRun(first.id, confirmable, 120_000);

    await restart(here);
    expect(await applied.serial()).toBe(1);
    expect(await status(await applied.run())).toBe('planned_and_finished');
    await client.act(first.id, 'apply');
    expect(await status(first)).toBe('applied');
    await client.waitForRun(second.id, isFinalRun, 120_000);
    expect(await waiting.serial()).toBe(1);
    // Left for the former version: a run of each kind.
    const later = await createWorkspace();
    expect(await status(await later.run({ 'auto-apply': true }))).toBe('applied');
    const open = await createWorkspace();
    const left = await open.run();
    await client.waitForRun(left.id, confirmable, 120_000);

    await restart(former);
    expect([await applied.serial(), await waiting.serial(), await later.serial()]).toEqual([1, 1, 1]);
    expect(await status(await later.run())).toBe('planned_and_finished');
    await client.act(left.id, 'apply');
    expect(await status(left)).toBe('applied');

    await restart(here);
    expect(await status(await open.run())).toBe('planned_and_finished');
  });
});
