import { spawn } from 'node:child_process';
import { type ExitCode, exit } from './exit.ts';
import { program } from './program.ts';

/** Runs a program in the foreground. The program handles Ctrl-C itself. */
export const runProgram = (args: string[], cwd = process.cwd()): Promise<ExitCode> =>
  new Promise((resolve, reject) => {
    // Node 22 warns of its SQLite, which later versions have unchanged.
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
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
