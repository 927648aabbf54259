import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { api, coder, read, shortName, startSession, template } from './support/coder-session.ts';
import { sweep } from './support/environments.ts';
import { platform } from './support/world.ts';

/** Environments with the unmodified coder command line. */

const managedIn = (state: string): string[] => {
  const { resources } = JSON.parse(state) as { resources: { mode: string; name: string }[] };
  return resources
    .filter(({ mode }) => mode === 'managed')
    .map(({ name }) => name)
    .sort();
};

const dev = shortName('dev');
const demo = shortName('demo');
let session: Awaited<ReturnType<typeof startSession>>;
const run: typeof session.run = (...args) => session.run(...args);
const succeeds: typeof session.succeeds = (...args) => session.succeeds(...args);

beforeAll(async () => {
  if (coder) session = await startSession({ 'main.tf': template });
});

describe.skipIf(!coder)('the coder command line', () => {
  it('pushes a template, shows what its import found, and pulls it back', async () => {
    const pushed = await succeeds([
      'templates',
      'push',
      demo,
      '-d',
      './demo',
      '-y',
      '--name',
      'v1',
      '--var',
      'zone=eu-1b',
    ]);
    expect(pushed.text).toContain('Detecting persistent resources');
    expect(pushed.text).toMatch(/terraform_data\.compute[\s\S]*terraform_data\.home/);
    expect((await succeeds(['templates', 'versions', 'list', demo])).text).toMatch(/v1 .*Succeeded +Active/);
    expect((await succeeds(['templates', 'presets', 'list', demo])).text).toMatch(/small .*region=eu,size=10 +true/);
    await succeeds(['templates', 'pull', demo, './out', '-y']);
    expect(await readFile(join(session.folder, 'out/main.tf'), 'utf8')).toBe(template);
  });

  it('creates, stops and starts an environment, which keeps its home and recreates its compute', async () => {
    const parameters = ['--parameter', 'size=12', '--parameter', 'region=eu'];
    const made = await succeeds(['create', dev, '--template', demo, '-y', '--preset', 'none', ...parameters]);
    expect(made.text).toContain('terraform_data.home: Creation complete');
    const again = await run(['create', dev, '--template', demo, '-y', ...parameters]);
    expect(again).toMatchObject({
      code: 1,
      text: expect.stringContaining(`a workspace already exists named "${dev}"`),
    });
    const home = managedIn((await succeeds(['state', 'pull', dev])).out);
    expect(home).toEqual(['compute', 'home']);
    await succeeds(['stop', dev, '-y']);
    expect(managedIn((await succeeds(['state', 'pull', dev])).out)).toEqual(['home']);
    await succeeds(['start', dev, '-y', '--always-prompt', '--parameter', 'size=20']);
    expect((await succeeds(['state', 'pull', dev])).out).toContain('"20"');
    expect((await succeeds(['list'])).text).toMatch(new RegExp(`${dev} +${demo} +Started`));
  });

  it('accepts one of two concurrent builds', async () => {
    const ended = await Promise.all([run(['stop', dev, '-y']), run(['stop', dev, '-y'])]);
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(ended.find(({ code }) => code === 1)?.text).toContain('A workspace build is already active.');
  });

  it.each([
    ['region', 'us', 'is not mutable'],
    ['size', '5', 'must be equal or greater than previous value: 20'],
    ['size', 'many', 'is not a number'],
  ])('refuses %s=%s by the API and leaves no build behind', async (name, value, detail) => {
    const workspace = (await (await api(`/users/me/workspace/${dev}`)).json()) as {
      id: string;
      latest_build: { build_number: number };
    };
    const body = JSON.stringify({ transition: 'start', rich_parameter_values: [{ name, value }] });
    const refused = await api(`/workspaces/${workspace.id}/builds`, { method: 'POST', body });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      message: `Unable to validate parameter "${name}"`,
      detail: expect.stringContaining(detail),
    });
    const now = (await (await api(`/users/me/workspace/${dev}`)).json()) as { latest_build: { build_number: number } };
    expect(now.latest_build.build_number).toBe(workspace.latest_build.build_number);
  });

  it('updates to a new version, pushes a state, and deletes', async () => {
    await writeFile(join(session.folder, 'demo/main.tf'), `${template}# changed\n`);
    await succeeds(['templates', 'push', demo, '-d', './demo', '-y', '--name', 'v2']);
    expect((await succeeds(['update', dev])).text).not.toContain('up-to-date');
    expect((await succeeds(['update', dev])).text).toContain('Workspace is up-to-date.');
    await succeeds(['state', 'pull', dev, 'state.json']);
    await succeeds(['state', 'push', dev, 'state.json']);
    expect((await run(['templates', 'delete', demo, '-y'])).text).toContain('All workspaces must be deleted before');
    await succeeds(['delete', dev, '-y']);
    expect((await run(['delete', dev, '-y'])).text).toContain('Resource not found or you do not have access');
  });

  it('deletes an orphan without Terraform, and then its template', async () => {
    const parameters = ['--preset', 'none', '--parameter', 'size=1', '--parameter', 'region=eu'];
    await succeeds(['create', 'broken', '--template', demo, '-y', ...parameters]);
    expect((await succeeds(['delete', 'broken', '--orphan', '-y'])).text).toContain('Resources are kept: 2 resources');
    await succeeds(['templates', 'delete', demo, '-y']);
  });
});

describe.skipIf(!coder)('schedules', () => {
  const latest = async (name: string) => {
    await sweep();
    return (await read(`/users/me/workspace/${name}`)).latest_build;
  };
  const timed = shortName('timed');

  it('stop an environment a minute after its start, and start it at its time', async () => {
    const parameters = ['--preset', 'none', '--parameter', 'size=1', '--parameter', 'region=eu'];
    const name = shortName('tpl');
    await succeeds(['templates', 'push', name, '-d', './demo', '-y']);
    await succeeds(['create', timed, '--template', name, '-y', '--stop-after', '1m', ...parameters]);
    await expect
      .poll(() => latest(timed), { timeout: 240_000, interval: 2000 })
      .toMatchObject({
        build_number: 2,
        transition: 'stop',
        reason: 'autostop',
        job: { status: 'succeeded' },
      });
    const at = new Date(Date.now() + 60_000);
    const schedule = `CRON_TZ=UTC ${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
    const { id } = await read(`/users/me/workspace/${timed}`);
    const set = await api(`/workspaces/${id}/autostart`, { method: 'PUT', body: JSON.stringify({ schedule }) });
    expect(set.status).toBe(204);
    await expect
      .poll(() => latest(timed), { timeout: 240_000, interval: 2000 })
      .toMatchObject({
        build_number: 3,
        transition: 'start',
        reason: 'autostart',
        job: { status: 'succeeded' },
      });
  });
});

describe('the environments’ host', () => {
  it('rejects requests without a token', async () => {
    const answer = await fetch(`${platform.environmentsUrl}/api/v2/users/me`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('x-coder-build-version')).toMatch(/^v2\.29\./);
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('sign in again') });
  });

  it('refuses an archive with a link, and stores nothing', async () => {
    const tar = Buffer.alloc(1536);
    tar.write('link');
    tar.write('00000000000\0', 124);
    tar.write('2', 156);
    const answer = await fetch(`${platform.environmentsUrl}/api/v2/files`, {
      method: 'POST',
      headers: { 'coder-session-token': platform.token, 'content-type': 'application/x-tar' },
      body: tar,
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('links are not allowed') });
  });
});
