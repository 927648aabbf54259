import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

beforeAll(async () => {
  await installPackage(await packedOnce(), folder);
});
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
      stderr: expect.stringMatching(/Region: not set[\s\S]*Credentials: not found/),
    });
    await expect(stepform('agent')).rejects.toMatchObject({ stderr: expect.stringContaining('STEPFORM_AGENT_TOKEN') });
  });
});
