import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { installPackage, packedOnce } from '#test/support/install-package.ts';

/**
 * The view of a user without a checkout: the tarball, in an empty folder. `STEPFORM_PACKAGE=npm` installs it with npm.
 */

const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), 'stepform-package-'));
const folder = join(root, 'empty');
const env = {
  // The Node of the tests; the machine's may be too old.
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: root,
  TMPDIR: root,
  AWS_EC2_METADATA_DISABLED: 'true',
};
const stepform = (...args: string[]) => run(join(folder, 'node_modules/.bin/stepform'), args, { cwd: folder, env });

await installPackage(await packedOnce(), folder);
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

describe('the package in an empty folder', () => {
  it.each([
    [['backup', 'x.backup'], 'is not a data folder of a platform'],
    [['restore', 'missing.backup'], 'missing.backup cannot be restored'],
    [['recover', 'yesterday'], 'Give the time of the backup: stepform recover 20'],
    [['recover', '2026-01-31T08:00:00Z'], 'Start it first: stepform start'],
    [['open-state', 'package.json'], 'package.json is not a state that a runner stored'],
  ])('operates a data folder with "stepform %j"', async (args, reason) => {
    writeFileSync(join(folder, 'package.json'), '{}');
    await expect(stepform(...args)).rejects.toMatchObject({ stderr: expect.stringContaining(reason) });
  });

  it('needs no other package and takes at most 30 MB', () => {
    const of = (path: string): string[] =>
      readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
    const files = of(join(folder, 'node_modules/stepform'));
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThan(30_000_000);
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['stepform']);
    expect(files.filter((file) => file.endsWith('.test.ts'))).toEqual([]);
  });

  it('contains the licences of the packages that are bundled in it, and bundles no development tools', () => {
    const file = (name: string) => readFileSync(join(folder, 'node_modules/stepform', name), 'utf8');
    const named = (notices: string) =>
      [...notices.matchAll(/^((?:@[\w-]+\/)?[\w.-]+) \d+\.\d+\.\S+ \(.+\)$/gm)].map(([, name]) => name as string);
    const all = file('THIRD-PARTY-NOTICES');
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const apart = ['aws-cdk', 'esbuild'];
    expect(named(all)).toEqual(
      expect.arrayContaining(Object.keys(dependencies).filter((name) => !apart.includes(name))),
    );
    expect(all).toContain('Copyright (c) 2015-present Jason Miller');
    expect(named(file('.build/runner/THIRD-PARTY-NOTICES'))).toEqual(expect.arrayContaining(['tar-stream', 'yauzl']));
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    expect(named(all).filter((name) => packages[`node_modules/${name}`]?.dev)).toEqual([]);
  });

  it('shows a first apply and a failed run with "stepform demo"', async () => {
    const { stdout, stderr } = await stepform('demo');
    expect(stdout).toContain('Applied');
    expect(stdout).toMatch(/errored/i);
    // The package contains the build outputs of a checkout.
    expect(stdout + stderr).not.toMatch(/Building|Synthesizing/);
  });

  it('prints its version and all commands', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect((await stepform('--version')).stdout).toBe(`stepform ${version}\n`);
    const { stdout } = await stepform('--help');
    const named = ['demo', 'start', 'deploy', 'agent', 'runs start', 'backup', 'restore', 'recover', 'open-state'];
    for (const command of named) expect(stdout).toContain(command);
  });

  it('lists missing prerequisites of a deployment, and that an agent needs a token', async () => {
    await expect(stepform('deploy', '--check')).rejects.toMatchObject({
      stderr: expect.stringMatching(/Region: not set[\s\S]*Credentials: not found[\s\S]*AWS CDK: not installed/),
    });
    await expect(stepform('agent')).rejects.toMatchObject({ stderr: expect.stringContaining('STEPFORM_AGENT_TOKEN') });
  });
});
