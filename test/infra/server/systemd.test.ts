import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, vi } from 'vitest';
import { installPackage, packedOnce } from '#test/support/install-package.ts';

/** The package as systemd would run it: with the unit's command, variables and capabilities, and nothing of this shell. */

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'stepform-server-'));
chmodSync(folder, 0o711);
const children: ChildProcess[] = [];
if (isRoot) await installPackage(await packedOnce(), folder);
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const unit = readFileSync('infra/server/stepform.service', 'utf8');
const settings = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

const isChecked = spawnSync('systemd-analyze', ['--version']).status === 0;
it.skipIf(!isChecked)('systemd finds no mistake in the unit', () => {
  const copy = join(folder, 'stepform.service');
  // The programs of the server are elsewhere here.
  writeFileSync(copy, unit.replaceAll(/^(ExecStart|ExecStartPost)=\S+/gm, '$1=/bin/true'));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

it.skipIf(!isRoot)(
  'runs stay in rooms of their own with the rights that the unit leaves',
  async () => {
    const { STEPFORM_DATA, ...variables } = Object.fromEntries(
      settings('Environment').flatMap((line) => line.split(' ').map((pair) => pair.split('=') as [string, string])),
    );
    expect(STEPFORM_DATA).toBe(`/var/lib/${settings('StateDirectory')[0]}`);
    const data = join(folder, 'data');
    mkdirSync(data, { mode: Number(`0o${settings('StateDirectoryMode')[0]}`) });
    const env = {
      ...variables,
      ...{ STEPFORM_DATA: data, STEPFORM_CACHE: join(folder, 'cache'), HOME: data },
      ...{ PORT: '0', HTTPS_PORT: '0', ENVIRONMENTS_PORT: '0' },
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    };
    const capabilities = (settings('CapabilityBoundingSet')[0] ?? '')
      .split(' ')
      .map((name) => `+${name.slice(4).toLowerCase()}`);
    const stepform = join(folder, 'node_modules/.bin/stepform');
    const limited = ['--no-new-privs', `--bounding-set=-all,${capabilities.join(',')}`, '--inh-caps=-all', '--'];
    const program = settings('ExecStart')[0]?.replace('/opt/stepform', folder).split(' ') ?? [];
    let output = '';
    const platform = spawn('setpriv', [...limited, ...program], { cwd: data, env });
    children.push(platform);
    for (const stream of [platform.stdout, platform.stderr]) stream.on('data', (text) => (output += text));
    await vi.waitFor(() => expect(output).toContain('stepform is ready'), { timeout: 60_000, interval: 100 });
    // It prints each missing guarantee of runs.
    expect(output).not.toMatch(/not isolated|no rooms|Runs will fail/);

    const { url, token, organization } = JSON.parse(readFileSync(join(data, 'local.json'), 'utf8'));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const configuration = join(folder, 'configuration');
    mkdirSync(configuration);
    writeFileSync(
      join(configuration, 'main.tf'),
      `resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "touch ${data}/written || grep CapEff /proc/self/status"\n  }\n}\n`,
    );
    const cli = (...args: string[]) =>
      promisify(execFile)(stepform, [...args, '--organization', organization], {
        cwd: configuration,
        env: { ...env, TFE_ADDRESS: url, TFE_TOKEN: token, HOME: configuration },
      });
    await cli('workspaces', 'create', 'server');
    const { stdout } = await cli('runs', 'start', '--workspace', 'server', '--watch', '--auto-apply');
    expect(stdout).toContain('Applied');
    expect(existsSync(join(data, 'written'))).toBe(false);
    expect(stdout).toContain('CapEff:\t0000000000000000');
  },
  240_000,
);
