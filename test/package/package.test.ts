import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage, shrinkwrapOf } from '../../infra/package.ts';

/** What somebody has who has no checkout: the tarball, in an empty folder. `STEPFORM_PACKAGE=npm` installs it with npm. */

const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), 'stepform-package-'));
const folder = join(root, 'empty');
const env = {
  // The Node of the tests; the one of the machine may be too old.
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: root,
  TMPDIR: root,
  AWS_EC2_METADATA_DISABLED: 'true',
};
const stepform = (...args: string[]) => run(join(folder, 'node_modules/.bin/stepform'), args, { cwd: folder, env });

/** From the registry, as somebody else installs it: a minute, and 330 MB. */
const byNpm = (tarball: string) => {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  return run('npm', ['install', ...options, tarball], { cwd: folder, env: { ...env, HOME: process.env.HOME } });
};

/** The packages that its lock file names, and no others, are those of this checkout. */
const byLinks = async (tarball: string) => {
  const modules = join(folder, 'node_modules');
  const target = join(modules, 'stepform');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  const { packages } = JSON.parse(readFileSync(join(target, 'npm-shrinkwrap.json'), 'utf8'));
  for (const path of Object.keys(packages).filter((one) => one.lastIndexOf('node_modules/') === 0)) {
    if (!existsSync(path)) continue; // Of another system.
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(resolve(path), join(folder, path));
  }
  mkdirSync(join(modules, '.bin'));
  symlinkSync('../stepform/functions/cli/stepform.mjs', join(modules, '.bin/stepform'));
};

beforeAll(async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const tarball = await makePackage(root);
  await (process.env.STEPFORM_PACKAGE === 'npm' ? byNpm : byLinks)(tarball);
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

describe('the package in an empty folder', () => {
  it('shows a first apply and a failed run with "stepform demo"', async () => {
    const { stdout } = await stepform('demo');
    expect(stdout).toContain('Applied');
    expect(stdout).toMatch(/errored/i);
  });

  it('knows its version, and all commands', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect((await stepform('--version')).stdout).toBe(`stepform ${version}\n`);
    const { stdout } = await stepform('--help');
    for (const command of ['demo', 'start', 'deploy', 'agent', 'runs start']) expect(stdout).toContain(command);
  });

  it('lists missing prerequisites of a deployment, and that an agent needs a token', async () => {
    await expect(stepform('deploy', '--check')).rejects.toMatchObject({
      stderr: expect.stringMatching(/Region: none is set[\s\S]*Credentials: none were found/),
    });
    await expect(stepform('agent')).rejects.toMatchObject({ stderr: expect.stringContaining('STEPFORM_AGENT_TOKEN') });
  });
});

it('locks exactly its dependencies', () => {
  const lock = {
    lockfileVersion: 3,
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0', dev: true, dependencies: { b: '^1.0.0' } },
      'node_modules/a/node_modules/b': { version: '1.0.0', dev: true },
      'node_modules/b': { version: '2.0.0', dev: true },
      'node_modules/c': { version: '1.0.0' },
    },
  };
  const { packages } = shrinkwrapOf(lock, { dependencies: { a: '1.0.0' } });
  expect(Object.keys(packages)).toEqual(['', 'node_modules/a', 'node_modules/a/node_modules/b']);
  expect(packages['node_modules/a']).not.toHaveProperty('dev');
});
