import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { locked } from './file-lock.ts';

/** Python programs that check the deployed template; each in its own virtual environment, shared by all checkouts. */

const run = (command: string, args: string[]): SpawnSyncReturns<string> =>
  spawnSync(command, args, { encoding: 'utf8' });

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

/**
 * Path of a program, installed on first use; otherwise the reason why it is missing.
 * @param packages exact requirements (`name==version`) with all dependencies; the first one names the folder
 */
export const providePython = (
  program: string,
  packages: [string, ...string[]],
): Promise<{ program: string } | { missing: string }> => {
  const folder = join(process.env.STEPFORM_CACHE || machineCache, 'python', packages[0].replace('==', '-'));
  return locked(`${folder}.lock`, async () => installed(folder, program, packages));
};

const installed = (folder: string, program: string, packages: string[]): { program: string } | { missing: string } => {
  const path = join(folder, 'bin', program);
  // Written last, so that an interrupted installation is repeated. An installation whose Python is gone is repeated
  // too.
  const stamp = join(folder, 'installed');
  const isKept = existsSync(stamp) && readFileSync(stamp, 'utf8') === packages.join();
  if (isKept && run(join(folder, 'bin/python'), ['-c', '']).status === 0) return { program: path };
  const python = ['python3', 'python'].find((name) => run(name, ['-c', 'import venv, ensurepip']).status === 0);
  if (!python) return { missing: 'no Python 3 with venv on the PATH' };
  const created = run(python, ['-m', 'venv', '--clear', folder]);
  if (created.status !== 0) return { missing: lastLine(created.stderr) };
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', ...packages];
  const installation = run(join(folder, 'bin/python'), pip);
  if (installation.status !== 0 || !existsSync(path)) {
    return { missing: lastLine(installation.stderr) || `${packages[0]} could not be installed` };
  }
  writeFileSync(stamp, packages.join());
  return { program: path };
};
