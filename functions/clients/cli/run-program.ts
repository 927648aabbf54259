import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type ExitCode, exit } from './exit.ts';
import { program } from './program.ts';

/** Root folder of the checkout, or of the package's copy. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a program in the foreground. The program handles Ctrl-C itself. */
export const runProgram = (args: string[], cwd = process.cwd()): Promise<ExitCode> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      stdio: 'inherit',
      env: { ...process.env, STEPFORM_PROGRAM: program },
    });
    process.on('SIGINT', () => {});
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (signal === 'SIGINT') return resolve(exit.interrupted);
      resolve(code === exit.done || code === exit.differs || code === exit.interrupted ? code : exit.failed);
    });
  });
