import { spawn } from 'node:child_process';

/**
 * Runs a policy engine as a child process with limits on time, memory and output, and only the environment variables
 * that Go needs.
 */

export interface ProcessLimits {
  seconds: number;
  /** Limit of the data segment, which is nearly all that a Go program uses. */
  memoryMiB: number;
  outputBytes: number;
}

export interface ProcessResult {
  /** Null when it was killed. */
  exitCode: number | null;
  stdout: string;
  /** The last part of the error output. */
  stderr: string;
  /** The limit that it exceeded. */
  exceeded?: 'time' | 'memory' | 'output';
}

/** Memory that a Go program uses at start: stacks and tables (60 MiB measured on amd64). */
const startMiB = 64;
const keptErrorBytes = 64 * 1024;

/**
 * Go's own limit applies first and makes it collect garbage more often; the system's limit ends the process. The
 * system's limit applies to writable memory, since Go reserves a gigabyte more of addresses than it uses. Where the
 * shell has no such limit (macOS), only Go's applies.
 */
const limited = 'ulimit -d "$0" 2>/dev/null; exec "$@"';

/** Messages of Go when memory runs out, one of them from its garbage collector (seen with 1.26). */
const outOfMemory = /out of memory|cannot allocate memory|^SIGSEGV/i;

/**
 * Runs the process to its end; failures are results, never exceptions. The process gets only the environment
 * variables that Go needs, and `directory`, which must be its own, as working directory.
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
      // Its own process group, so that its children are killed with it.
      detached: true,
    });
    let exceeded: ProcessResult['exceeded'];
    const kill = (why: NonNullable<ProcessResult['exceeded']>) => {
      exceeded ??= why;
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has already ended.
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
      // The reason comes first; a crashing Go program prints its stacks after it.
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
