import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { locked } from '#infra/build/file-lock.ts';

const run = promisify(execFile);

// The Node of the tests, because the machine's own may be too old.
const npm = (args: string[], cwd: string) =>
  run('npm', args, { cwd, env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` } });

/**
 * The package of this checkout, built once per test run.
 * @returns path of its tarball
 */
export const packedOnce = (): Promise<string> => {
  const folder = join(tmpdir(), 'packed');
  const packed = () => (existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.tgz')) : undefined);
  return locked(`${folder}.lock`, async () => {
    mkdirSync(folder, { recursive: true });
    if (!packed()) await run(process.execPath, ['infra/build/package.ts', folder]);
    return join(folder, packed() ?? '');
  });
};

const byNpm = (tarball: string, folder: string, withPeers: boolean) =>
  npm(
    [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      tarball,
      ...(withPeers ? peers : []),
    ],
    folder,
  );

/** What only a deployment needs. */
const peers = ['aws-cdk', 'aws-cdk-lib', 'constructs'];

/** Unpacks it, and links the requested peers from this checkout. */
const byLinks = async (tarball: string, folder: string, withPeers: boolean) => {
  const modules = join(folder, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  const target = join(modules, 'stepform');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  if (withPeers) for (const name of peers) symlinkSync(resolve('node_modules', name), join(modules, name));
  mkdirSync(join(modules, '.bin'));
  symlinkSync('../stepform/functions/clients/cli/stepform.mjs', join(modules, '.bin/stepform'));
  chmodSync(join(target, 'functions/clients/cli/stepform.mjs'), 0o755);
};

/** `npm install <tarball>` in a folder, replacing the installed version. With npm itself if `STEPFORM_PACKAGE=npm`. */
export const installPackage = async (tarball: string, folder: string, withPeers = false): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  await (process.env.STEPFORM_PACKAGE === 'npm' ? byNpm : byLinks)(tarball, folder, withPeers);
};
