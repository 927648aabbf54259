import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Python programs that check what is deployed; each in a virtual environment of its own under `.build`. */

const build = resolve(import.meta.dirname, '../.build');

const run = (command: string, args: string[]): SpawnSyncReturns<string> =>
  spawnSync(command, args, { encoding: 'utf8' });

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

/**
 * Path of a program, installed when it is not; else why it cannot be.
 * @param packages exact requirements (`name==version`); the first one names the folder
 */
export const providePython = (
  program: string,
  packages: [string, ...string[]],
): { program: string } | { missing: string } => {
  const folder = join(build, packages[0].replace('==', '-'));
  const path = join(folder, 'bin', program);
  // Written last: an installation that was cut off is repeated.
  const stamp = join(folder, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === packages.join()) return { program: path };
  const python = ['python3', 'python'].find((name) => run(name, ['-c', 'import venv, ensurepip']).status === 0);
  if (!python) return { missing: 'there is no Python 3 with venv on the PATH' };
  const created = run(python, ['-m', 'venv', '--clear', folder]);
  if (created.status !== 0) return { missing: lastLine(created.stderr) };
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
  const installed = run(join(folder, 'bin/python'), pip);
  if (installed.status !== 0 || !existsSync(path)) {
    return { missing: lastLine(installed.stderr) || `${packages[0]} could not be installed` };
  }
  writeFileSync(stamp, packages.join());
  return { program: path };
};
