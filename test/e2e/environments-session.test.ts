import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { coder, read, shortName, startSession, template } from './support/coder-session.ts';

/** A day with the unmodified coder command line, command by command, with the state that each reads and writes. */

const dev = shortName('dev');
const dev2 = shortName('dev');
const demo = shortName('demo');
const parameters = ['--parameter', 'size=12', '--parameter', 'region=eu'];
let session: Awaited<ReturnType<typeof startSession>>;
const coderSays = async (...args: string[]): Promise<string> => (await session.succeeds(args)).text;

interface State {
  serial: number;
  lineage: string;
  managed: string[];
  text: string;
}

const stateOf = async (name: string, ...more: string[]): Promise<State> => {
  const text = (await session.succeeds(['state', 'pull', name, ...more])).out;
  const { serial, lineage, resources } = JSON.parse(text) as {
    serial: number;
    lineage: string;
    resources: { mode: string; name: string }[];
  };
  const managed = resources.filter(({ mode }) => mode === 'managed').map((one) => one.name);
  return { serial, lineage, text, managed: managed.sort() };
};

const latest = async (name: string) => (await read(`/users/me/workspace/${name}`)).latest_build;

beforeAll(async () => {
  if (!coder) return;
  session = await startSession({ 'main.tf': template });
  const version = ['--name', 'v1', '-m', 'first', '--var', 'zone=eu-1b'];
  const pushed = await session.succeeds(['templates', 'push', demo, '-d', './demo', '-y', ...version]);
  expect(pushed.text).toMatch(
    /Detecting persistent resources[\s\S]*terraform_data\.compute[\s\S]*terraform_data\.home/,
  );
});

describe.skipIf(!coder)('coder', () => {
  it('the template that ships is created, stopped and deleted as in the tutorial', async () => {
    const [name, box] = [shortName('ships'), shortName('box')];
    const folder = join(import.meta.dirname, '../../infra/docs/tutorials/environment');
    await session.succeeds(['templates', 'push', name, '-d', folder, '-y']);
    await session.succeeds(['create', box, '--template', name, '-y', '--parameter', 'size=12']);
    expect((await stateOf(box)).managed).toEqual(['disk', 'machine']);
    await session.succeeds(['stop', box, '-y']);
    expect((await stateOf(box)).managed).toEqual(['disk']);
    expect((await session.run(['templates', 'delete', name, '-y'])).text).toContain('must be deleted before');
    const { id } = await latest(box);
    expect(await coderSays('delete', box, '-y')).toContain('has been deleted');
    expect((await session.run(['delete', box, '-y'])).text).toContain('Resource not found');
    expect((await read(`/workspacebuilds/${id}`)).job.status).toBe('succeeded');
    await session.succeeds(['templates', 'delete', name, '-y']);
  });

  it('whoami, users, tokens: the platform’s own people and tokens', async () => {
    expect(await coderSays('whoami')).toContain("You're authenticated as owner");
    expect(await coderSays('users', 'show', 'me')).toContain('owner');
    expect(await coderSays('users', 'list')).toContain('owner');
    const name = shortName('ci');
    const key = (await session.succeeds(['tokens', 'create', '--name', name, '--lifetime', '24h'])).out.trim();
    expect(await coderSays('whoami', '--token', key)).toContain('owner');
    expect(await coderSays('tokens', 'ls')).toContain(name);
    await coderSays('tokens', 'rm', name);
    expect((await session.run(['whoami', '--token', key])).code).not.toBe(0);
  });

  it('create: start, applies, from no state, to a new version', async () => {
    const schedule = ['--start-at', '9:30AM Mon-Fri Europe/Dublin', '--stop-after', '8h'];
    const options = ['--preset', 'none', ...parameters, ...schedule, '--automatic-updates', 'always'];
    expect(await coderSays('create', dev, '--template', demo, '-y', ...options)).toContain('has been created');
    expect((await stateOf(dev)).managed).toEqual(['compute', 'home']);
    const listed = await coderSays('list');
    expect(listed).toMatch(
      new RegExp(`${dev} +${demo} +Started +true .* v1 +false +9:30AM Mon-Fri \\(Europe/Dublin\\) +8h`),
    );
    expect(await coderSays('show', dev)).toMatch(/terraform_data\.compute[\s\S]*terraform_data\.home/);
    const again = await session.run(['create', dev, '--template', demo, '-y', ...options]);
    expect(again).toMatchObject({ code: 1, text: expect.stringContaining('a workspace already exists named') });
    expect(await coderSays('templates', 'list')).toContain(demo);
    expect(await coderSays('templates', 'versions', 'list', demo)).toMatch(/v1 .*Succeeded +Active/);
    expect(await coderSays('templates', 'presets', 'list', demo)).toMatch(/small .*region=eu,size=10 +true/);
    expect(await coderSays('start', dev, '-y')).toContain('already running');
  });

  it('stop: applies, from the last build’s state, to a new version', async () => {
    const before = await stateOf(dev);
    expect(await coderSays('stop', dev, '-y')).toContain('has been stopped');
    const after = await stateOf(dev);
    expect(after).toMatchObject({ lineage: before.lineage, managed: ['home'] });
    expect(after.serial).toBeGreaterThan(before.serial);
    // Each build keeps its own state.
    expect((await stateOf(dev, '-b', '1')).text).toBe(before.text);
  });

  it('start: applies, from the last build’s state, to a new version, with Terraform’s own log for owners', async () => {
    const before = await stateOf(dev);
    const refused = await session.run(['start', dev, '-y', '--parameter', 'region=us']);
    expect(refused).toMatchObject({
      code: 1,
      text: expect.stringContaining('parameter "region" is immutable and cannot be updated'),
    });
    const options = ['--always-prompt', '--parameter', 'size=20', '--provisioner-log-debug'];
    expect(await coderSays('start', dev, '-y', ...options)).toContain('has been started');
    const after = await stateOf(dev);
    expect(after).toMatchObject({ lineage: before.lineage, managed: ['compute', 'home'] });
    const { id } = await latest(dev);
    const levels = (await read(`/workspacebuilds/${id}/logs`)).map((one: { log_level: string }) => one.log_level);
    expect(levels).toContain('debug');
    expect(levels).not.toContain('trace');
  });

  it('schedule, autoupdate, favorite, rename: automatic behavior of an environment, and its name', async () => {
    expect(await coderSays('schedule', 'show', dev)).toMatch(/9:30AM Mon-Fri \(Europe\/Dublin\) .* 8h/);
    expect(await coderSays('schedule', 'stop', dev, '4h')).toContain('4h');
    const extended = Date.now() + 2 * 3_600_000;
    await coderSays('schedule', 'extend', dev, '2h');
    const deadline = Date.parse((await latest(dev)).deadline);
    expect(Math.abs(deadline - extended)).toBeLessThan(120_000);
    await coderSays('schedule', 'start', dev, 'manual');
    expect((await read(`/users/me/workspace/${dev}`)).autostart_schedule).toBe(null);
    expect(await coderSays('autoupdate', dev, 'never')).toContain('auto-update policy to "never"');
    expect(await coderSays('favorite', dev)).toContain('added to favorites');
    expect((await session.succeeds(['rename', dev, dev2, '-y'], `${dev}\n`)).text).toContain(`renamed to "${dev2}"`);
  });

  it('update: stops and starts with the active version, two applies, from the last build’s state each', async () => {
    await writeFile(join(session.folder, 'demo/main.tf'), `${template}# changed\n`);
    await coderSays('templates', 'push', demo, '-d', './demo', '-y', '--name', 'v2');
    const before = await latest(dev2);
    const { lineage } = await stateOf(dev2);
    expect(await coderSays('list')).toMatch(new RegExp(`${dev2} .* v1 +true`));
    await coderSays('update', dev2);
    expect(await latest(dev2)).toMatchObject({
      build_number: before.build_number + 2,
      template_version_name: 'v2',
      job: { status: 'succeeded' },
    });
    expect(await stateOf(dev2)).toMatchObject({ lineage, managed: ['compute', 'home'] });
    expect(await coderSays('update', dev2)).toContain('Workspace is up-to-date.');
  });

  it('state push: applies, from the given state, to a new version', async () => {
    await coderSays('state', 'pull', dev2, 'state.json');
    const text = await readFile(join(session.folder, 'state.json'), 'utf8');
    const before = await latest(dev2);
    await coderSays('state', 'push', dev2, 'state.json');
    expect(await latest(dev2)).toMatchObject({ build_number: before.build_number + 1, transition: 'start' });
    expect((await stateOf(dev2)).lineage).toBe((JSON.parse(text) as { lineage: string }).lineage);
  });

  it('templates edit, promote, pull: settings, the active version, and its files', async () => {
    expect(await coderSays('templates', 'edit', demo, '--default-ttl', '8h', '-y')).toContain('Updated template');
    const promoted = await coderSays('templates', 'versions', 'promote', '-t', demo, '--template-version', 'v1');
    expect(promoted).toContain('Successfully promoted version "v1"');
    await coderSays('templates', 'pull', demo, './out', '-y');
    expect(await readFile(join(session.folder, 'out/main.tf'), 'utf8')).toBe(template);
  });

  it('delete --orphan: no Terraform, and the last state stays readable', async () => {
    const { id } = await latest(dev2);
    expect(await coderSays('delete', dev2, '--orphan', '-y')).toContain('has been deleted');
    const state = (await read(`/workspacebuilds/${id}/state`)) as { resources: { name: string }[] };
    expect(state.resources.map((one) => one.name)).toContain('home');
    expect(await coderSays('templates', 'delete', demo, '-y')).toContain('Deleted template');
    expect(await coderSays('logout', '-y')).toContain('no longer logged in');
  });
});
