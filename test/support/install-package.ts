import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { locked } from '#infra/build/file-lock.ts';
import { makePackage } from '#infra/build/package.ts';

const run = promisify(execFile);

/**
 * The package of this checkout, built once per test run.
 * @returns path of its tarball
 */
export const packedOnce = (): Promise<string> => {
  const folder = join(tmpdir(), 'packed');
  return locked(`${folder}.lock`, async () => {
    const made = existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.tgz')) : undefined;
    return made ? join(folder, made) : makePackage(folder);
  });
};

/** Installs from the registry, like a user: it takes a minute and 330 MB. */
const byNpm = (tarball: string, folder: string) => {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // The Node of the tests, because the machine's own may be too old.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  return run('npm', ['install', ...options, tarball], { cwd: folder, env });
};

/** Links exactly the packages in its lock file from this checkout. */
const byLinks = async (tarball: string, folder: string) => {
  const modules = join(folder, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  const target = join(modules, 'stepform');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  const { packages } = JSON.parse(readFileSync(join(target, 'npm-shrinkwrap.json'), 'utf8'));
  for (const path of Object.keys(packages).filter((one) => one.lastIndexOf('node_modules/') === 0)) {
    if (!existsSync(path)) continue; // Built for another system.
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(resolve(path), join(folder, path));
  }
  mkdirSync(join(modules, '.bin'));
  symlinkSync('../stepform/functions/clients/cli/stepform.mjs', join(modules, '.bin/stepform'));
  chmodSync(join(target, 'functions/clients/cli/stepform.mjs'), 0o755);
};

/** `npm install <tarball>` in a folder, replacing the installed version. With npm itself if `STEPFORM_PACKAGE=npm`. */
export const installPackage = async (tarball: string, folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  await (process.env.STEPFORM_PACKAGE === 'npm' ? byNpm : byLinks)(tarball, folder);
};
