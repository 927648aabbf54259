import { execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { tokenVariable } from './credentials.ts';
import { CommandError } from './exit.ts';

/** The user's own terraform or tofu. */

const run = promisify(execFile);

const isInstalled = async (engine: string): Promise<boolean> => {
  try {
    await run(engine, ['version']);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

/** `tofu` for a folder with its own files, or where terraform is missing. @throws {CommandError} without either */
export const findEngine = async (folder: string): Promise<'terraform' | 'tofu'> => {
  const engines = ['terraform', 'tofu'] as const;
  const wanted = readdirSync(folder).some((name) => /\.tofu(\.json)?$/.test(name)) ? engines.toReversed() : engines;
  for (const engine of wanted) if (await isInstalled(engine)) return engine;
  throw new CommandError('Neither terraform nor tofu is on the PATH. Install one of them.');
};

/**
 * Runs `terraform init` with a token for the host. Terraform asks one question, whether to copy the state, which is
 * answered with yes; any other one ends it.
 * @returns whether it succeeded
 */
export const initialize = (engine: string, folder: string, host: string, token: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const child = spawn(engine, ['init'], {
      cwd: folder,
      // Standard output is for results.
      stdio: ['pipe', process.stderr, process.stderr],
      env: { ...process.env, [tokenVariable(host)]: token },
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end('yes\n');
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
