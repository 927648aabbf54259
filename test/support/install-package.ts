import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** From the registry, as somebody else installs it: a minute, and 330 MB. */
const byNpm = (tarball: string, folder: string) => {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // The Node of the tests; the one of the machine may be too old.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  return run('npm', ['install', ...options, tarball], { cwd: folder, env });
};

/** The packages that its lock file names, and no others, are those of this checkout. */
const byLinks = async (tarball: string, folder: string) => {
  const modules = join(folder, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
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

/** `npm install <tarball>` in a folder, in place of the version that is there. With npm itself where `STEPFORM_PACKAGE=npm`. */
export const installPackage = async (tarball: string, folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  await (process.env.STEPFORM_PACKAGE === 'npm' ? byNpm : byLinks)(tarball, folder);
};
