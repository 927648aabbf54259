import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { coderAtHand, howToHaveCoder } from './support/coder-tools.ts';
import { newName, platform } from './support/world.ts';

/** Environments by the command line that they are for, unchanged. */

const coder = coderAtHand();
if (!coder) console.log(`skipped: ${howToHaveCoder}`);

const template = `
terraform {
  required_providers { coder = { source = "coder/coder", version = "~> 2.13" } }
}
variable "zone" { default = "eu-1a" }
data "coder_workspace" "me" {}
data "coder_workspace_owner" "me" {}
data "coder_parameter" "size" {
  name    = "size"
  type    = "number"
  default = "10"
  mutable = true
  validation {
    min       = 1
    max       = 100
    monotonic = "increasing"
  }
}
data "coder_parameter" "region" {
  name    = "region"
  type    = "string"
  default = "eu"
  mutable = false
  option {
    name  = "Europe"
    value = "eu"
  }
  option {
    name  = "America"
    value = "us"
  }
}
data "coder_workspace_preset" "small" {
  name    = "small"
  default = true
  parameters = {
    (data.coder_parameter.size.name)   = "10"
    (data.coder_parameter.region.name) = "eu"
  }
}
resource "terraform_data" "home" {
  input = "\${data.coder_workspace.me.id} \${data.coder_parameter.region.value} \${var.zone}"
}
resource "terraform_data" "compute" {
  count = data.coder_workspace.me.start_count
  input = { size = data.coder_parameter.size.value, owner = data.coder_workspace_owner.me.name }
}
`;

interface Ended {
  code: number;
  text: string;
  out: string;
}

let folder = '';
let env: NodeJS.ProcessEnv = {};

const run = (args: string[], stdin = ''): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(coder as string, args, { env, cwd: folder, timeout: 240_000 }, (error, out, errors) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${out}${errors}`, out }),
    );
    child.stdin?.end(stdin);
  });

const succeeds = async (args: string[], stdin?: string): Promise<Ended> => {
  const ended = await run(args, stdin);
  expect(ended.code, `coder ${args.join(' ')}\n${ended.text}`).toBe(0);
  return ended;
};

const api = (path: string, init: RequestInit = {}) =>
  fetch(`${platform.environmentsUrl}/api/v2${path}`, {
    ...init,
    headers: { 'coder-session-token': platform.token, 'content-type': 'application/json' },
  });

const managedIn = (state: string): string[] => {
  const { resources } = JSON.parse(state) as { resources: { mode: string; name: string }[] };
  return resources
    .filter(({ mode }) => mode === 'managed')
    .map(({ name }) => name)
    .sort();
};

const one = newName('t')
  .slice(-20)
  .replaceAll(/^-+|-+$/g, '');
const dev = `dev${one.slice(-8)}`.replaceAll('-', '');
const demo = `demo${one.slice(-8)}`.replaceAll('-', '');

beforeAll(async () => {
  if (!coder) return;
  folder = await mkdtemp(join(tmpdir(), 'coder-session-'));
  await mkdir(join(folder, 'demo'));
  await writeFile(join(folder, 'demo/main.tf'), template);
  env = {
    PATH: process.env.PATH,
    HOME: folder,
    CODER_CONFIG_DIR: join(folder, 'config'),
    CODER_URL: platform.environmentsUrl,
    NO_COLOR: '1',
  };
  await succeeds(['login', platform.environmentsUrl ?? '', '--token', platform.token]);
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
    expect(await readFile(join(folder, 'out/main.tf'), 'utf8')).toBe(template);
  });

  it('creates, stops and starts an environment, whose home stays and whose compute goes and comes', async () => {
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
    await writeFile(join(folder, 'demo/main.tf'), `${template}# changed\n`);
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
    expect((await succeeds(['delete', 'broken', '--orphan', '-y'])).text).toContain(
      'Resources are left alone: 2 resources',
    );
    await succeeds(['templates', 'delete', demo, '-y']);
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
