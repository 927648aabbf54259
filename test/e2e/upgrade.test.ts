import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun, type Resource } from '../../functions/client/client.ts';
import { machineCache } from '../../infra/local/machine-cache.ts';
import { installPackage, packedOnce } from '../support/install-package.ts';
import { PlatformProcess } from './support/platform.ts';
import { newName, resources } from './support/world.ts';

/** Before environments, version control and the registry, with its table in LevelDB: the oldest version to upgrade from. */
const oldest = 'f701e42';
/** The oldest version that reads what this one writes: its table is in SQLite. */
const oldestBack = 'b786c14';

const here = resolve(import.meta.dirname, '../..');

const isThere = (commit: string): boolean => {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: here, stdio: 'ignore' });
    return true;
  } catch {
    console.warn(`Upgrades were not tested: commit ${commit} is not in this checkout (a shallow clone?).`);
    return false;
  }
};

/** A checkout of a former version, with the dependencies of this one. */
const checkOut = (commit: string, former: string): void => {
  const tar = execFileSync('git', ['archive', commit], { cwd: here, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', former], { input: tar });
  symlinkSync(join(here, 'node_modules'), join(former, 'node_modules'));
};

/** A platform of a former version, in a checkout of its own. */
const startFormer = (commit: string) => {
  const former = mkdtempSync(join(tmpdir(), 'stepform-former-'));
  const world = { former } as { former: string; platform: PlatformProcess; client: Client };
  beforeAll(async () => {
    checkOut(commit, former);
    world.platform = await PlatformProcess.start({}, former);
    world.client = new Client(world.platform.local.url, world.platform.local.token);
  });
  afterAll(async () => {
    await world.platform.remove();
    rmSync(former, { recursive: true, force: true, maxRetries: 5 });
  });
  return world;
};

/** The same from packages: what is installed in one folder is the former version first, and then whatever is installed there. */
const installFormer = (commit: string) => {
  const root = mkdtempSync(join(tmpdir(), 'stepform-packages-'));
  const former = join(root, 'former');
  const folder = join(root, 'installed');
  const tarballs = { former: '', current: '' };
  const world = { tarballs } as { tarballs: typeof tarballs; platform: PlatformProcess; client: Client };
  beforeAll(async () => {
    mkdirSync(former);
    checkOut(commit, former);
    const packed = execFileSync(process.execPath, ['infra/package.ts'], { cwd: former, encoding: 'utf8' });
    tarballs.former = packed.trim();
    tarballs.current = await packedOnce();
    await installPackage(tarballs.former, folder);
    // Where the package keeps its own copy; downloaded programs stay where they are.
    const env = { XDG_CACHE_HOME: root, STEPFORM_CACHE: process.env.STEPFORM_CACHE || machineCache };
    world.platform = await PlatformProcess.start(env, folder);
    world.client = new Client(world.platform.local.url, world.platform.local.token);
  });
  afterAll(async () => {
    await world.platform.remove();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });
  const install = async (tarball: string): Promise<void> => {
    await world.platform.stop();
    await installPackage(tarball, folder);
    await world.platform.start();
  };
  return Object.assign(world, { install });
};

const restart = async ({ platform }: { platform: PlatformProcess }, checkout: string): Promise<void> => {
  await platform.stop();
  platform.checkout = checkout;
  await platform.start();
};

const main = `${resources(['a'])}\nvariable "secret" {\n  sensitive = true\n}\noutput "length" {\n  value = nonsensitive(length(var.secret))\n}\n`;
const createWorkspace = async ({ client, platform }: { client: Client; platform: PlatformProcess }) => {
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
const status = async ({ client }: { client: Client }, run: Resource): Promise<string> => {
  const { status: reached, 'end-reason': reason } = (await client.waitForRun(run.id, isFinalRun, 120_000)).attributes;
  return reason ? `${reached}: ${reason}` : reached;
};

/** What the former version wrote is used by this one, and what this one wrote by the former one again. */
describe.skipIf(!isThere(oldestBack))('an upgrade and a rollback by package', () => {
  const world = installFormer(oldestBack);
  const { tarballs, install } = world;

  it('keep runs, variables and states, and finish runs of the other version', async () => {
    const { client } = world;
    const applied = await createWorkspace(world);
    expect(await status(world, await applied.run({ 'auto-apply': true }))).toBe('applied');
    const waiting = await createWorkspace(world);
    const first = await waiting.run();
    const second = await waiting.run();
    await client.waitForRun(first.id, confirmable, 120_000);

    await install(tarballs.current);
    expect(await applied.serial()).toBe(1);
    expect(await status(world, await applied.run())).toBe('planned_and_finished');
    await client.act(first.id, 'apply');
    expect(await status(world, first)).toBe('applied');
    await client.waitForRun(second.id, isFinalRun, 120_000);
    expect(await waiting.serial()).toBe(1);
    // Left for the former version: a run of each kind.
    const later = await createWorkspace(world);
    expect(await status(world, await later.run({ 'auto-apply': true }))).toBe('applied');
    const open = await createWorkspace(world);
    const left = await open.run();
    await client.waitForRun(left.id, confirmable, 120_000);

    await install(tarballs.former);
    expect([await applied.serial(), await waiting.serial(), await later.serial()]).toEqual([1, 1, 1]);
    expect(await status(world, await later.run())).toBe('planned_and_finished');
    await client.act(left.id, 'apply');
    expect(await status(world, left)).toBe('applied');

    await install(tarballs.current);
    expect(await status(world, await open.run())).toBe('planned_and_finished');
  });
});

describe.skipIf(!isThere(oldest))('an upgrade from the oldest version', () => {
  const world = startFormer(oldest);

  it('keeps data and finishes runs, and rejects going back instead of starting empty', async () => {
    const applied = await createWorkspace(world);
    expect(await status(world, await applied.run({ 'auto-apply': true }))).toBe('applied');
    const waiting = await createWorkspace(world);
    const left = await waiting.run();
    await world.client.waitForRun(left.id, confirmable, 120_000);

    await restart(world, here);
    expect(await applied.serial()).toBe(1);
    expect(await status(world, await applied.run())).toBe('planned_and_finished');
    await world.client.act(left.id, 'apply');
    expect(await status(world, left)).toBe('applied');

    await expect(restart(world, world.former)).rejects.toThrow('the platform ended with 1');
    await restart(world, here);
    expect(await waiting.serial()).toBe(1);
  });
});
