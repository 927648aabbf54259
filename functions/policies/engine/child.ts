import { spawn } from 'node:child_process';

/** Runs a policy engine as a child process with limits on time, memory and output, and an environment that is empty but for what Go needs. */

export interface ProcessLimits {
  seconds: number;
  /** Of data, which is nearly all that a Go program takes. */
  memoryMiB: number;
  outputBytes: number;
}

export interface ProcessResult {
  /** Null when it was killed. */
  exitCode: number | null;
  stdout: string;
  /** Its end. */
  stderr: string;
  /** Which limit it exceeded. */
  exceeded?: 'time' | 'memory' | 'output';
}

/** A Go program's own before it does anything: stacks, tables (seen on amd64: 60 MiB). */
const startMiB = 64;
const keptErrorBytes = 64 * 1024;

/**
 * Go's own limit comes first and makes it collect harder; the system's stops it for good: on what was made writable,
 * since Go reserves a gigabyte of addresses more than it uses. Where the shell cannot limit (macOS), Go's is all there is.
 */
const limited = 'ulimit -d "$0" 2>/dev/null; exec "$@"';

/** Go dies of it in several ways, one of them in its collector (seen with 1.26). */
const outOfMemory = /out of memory|cannot allocate memory|^SIGSEGV/i;

/**
 * Runs it to its end; never throws for what it does. Its environment is empty but for what Go needs, its working
 * directory `directory`, which should be its own.
 */
export const runBounded = (
  program: string,
  parameters: string[],
  directory: string,
  { seconds, memoryMiB, outputBytes }: ProcessLimits,
): Promise<ProcessResult> =>
  new Promise((resolve, reject) => {
    const kibibytes = String((memoryMiB + startMiB) * 1024);
    const child = spawn('/bin/sh', ['-c', limited, kibibytes, program, ...parameters], {
      cwd: directory,
      env: { HOME: directory, TMPDIR: directory, GOMEMLIMIT: `${memoryMiB}MiB`, GOMAXPROCS: '2' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that whatever it starts is killed with it.
      detached: true,
    });
    let exceeded: ProcessResult['exceeded'];
    const kill = (why: NonNullable<ProcessResult['exceeded']>) => {
      exceeded ??= why;
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    };
    const timer = setTimeout(() => kill('time'), seconds * 1000);
    const output: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (part: Buffer) => {
      size += part.length;
      if (size > outputBytes) kill('output');
      else output.push(part);
    });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      // The reason comes first; a Go program that dies goes on with its stacks.
      if (complaints.length < keptErrorBytes) complaints += part;
    });
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (exitCode) => {
      clearTimeout(timer);
      const stderr = complaints.slice(0, keptErrorBytes);
      if (!exceeded && exitCode !== 0 && outOfMemory.test(stderr)) exceeded = 'memory';
      resolve({ exitCode, stdout: Buffer.concat(output).toString('utf8'), stderr, exceeded });
    });
  });
