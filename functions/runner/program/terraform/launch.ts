import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { messageOf } from '#platform/net/transport/errors.ts';
import { PhaseError } from '../errors.ts';
import { limits } from './limits.ts';
import { pathOf } from './machine.ts';
import type { Owner } from './owner.ts';
import { environmentScript, type Room } from './room.ts';

/**
 * The only module of the runner that starts programs. {@link launch} starts all programs that are not the platform's:
 * in a room (room.ts) if the machine allows it; otherwise as a separate user with limits and without new privileges, as
 * in a container on Fargate; otherwise as the runner's user.
 */

export interface Program {
  /** Absolute path of the binary. */
  path: string;
  args: string[];
  directory: string;
  environment: Record<string, string>;
  /** User and room of the process, and the mark in its environment if nothing else identifies it. */
  user: { owner: Owner | undefined; room: Room | undefined; mark: string | undefined };
  /** Receives standard output and error, in the order they were written; or a file for standard output alone. */
  output: ((bytes: Buffer) => void) | { file: string };
  /** Runs at low priority, for background work. */
  background?: boolean;
}

/** @throws {PhaseError} */
export const launch = (command: Program): ChildProcess => {
  const { output, background } = command;
  const file = typeof output === 'function' ? undefined : openSync(output.file, 'w', 0o600);
  let child: ChildProcess;
  try {
    child = command.user.room ? inRoom(command, file) : inGroup(command, file);
  } catch (error) {
    throw new PhaseError(`Terraform could not be started: ${messageOf(error)}.`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
  if (background) yieldTo(child);
  child.stdin?.on('error', () => {});
  if (typeof output === 'function') child.stdout?.on('data', output);
  return child;
};

const closedOnExecution = 0o2_000_000;

const isInherited = (file: string): boolean => {
  try {
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1'))?.[1] ?? '0';
    return !(Number.parseInt(flags, 8) & closedOnExecution);
  } catch {
    return false;
  }
};

let inheritedFiles: number[] | undefined;
/**
 * Open files, besides the standard ones, that this program inherited, such as a lock of the shell that started it. Its
 * children would inherit them with the same access rights. Node.js closes all files that it opens itself.
 */
const inherited = (): number[] => {
  try {
    inheritedFiles ??= readdirSync('/proc/self/fd').filter(isInherited).map(Number);
  } catch {
    // Not Linux.
    inheritedFiles = [];
  }
  return inheritedFiles;
};

/** Starts a program that inherits only these files. */
const spawnWith = (
  program: string,
  args: string[],
  options: SpawnOptions & { stdio: ('pipe' | 'ignore' | number)[] },
): ChildProcess => {
  const nothing = openSync('/dev/null', 'r');
  try {
    const { stdio } = options;
    const others = inherited().filter((file) => file >= stdio.length);
    // Node.js does not close an ignored file.
    const all = Array.from({ length: Math.max(stdio.length, ...others.map((file) => file + 1)) }, (_, file) =>
      others.includes(file) ? nothing : (stdio[file] ?? 'ignore'),
    );
    return spawn(program, args, { ...options, stdio: all });
  } finally {
    closeSync(nothing);
  }
};

/**
 * The room's first process reads signal names from its standard input, and ends the room when that is closed, which
 * also happens when the runner ends.
 */
const inRoom = ({ path, args, directory, environment, user }: Program, file: number | undefined): ChildProcess => {
  const { room, owner } = user;
  if (!room || !owner) throw new Error('the user has no room');
  const [program, all] = room.command(owner, directory, [path, ...args], file === undefined ? 'both' : 'apart');
  const stdio = ['pipe' as const, file ?? ('pipe' as const), 'pipe' as const, 'pipe' as const];
  const child = spawnWith(program, all, { cwd: '/', env: {}, detached: true, stdio });
  const script = child.stdio[3] as Duplex | null;
  script?.on('error', () => {});
  script?.end(environmentScript(environment));
  return child;
};

/**
 * Starts a process group that ends with this program in every case: `read` waits for the end of a pipe that only the
 * runner holds open. Both outputs share one pipe, to keep their order.
 */
const inGroup = ({ path, args, directory, environment, user }: Program, file: number | undefined): ChildProcess => {
  const { owner, mark } = user;
  const setpriv = owner && pathOf('setpriv');
  const script =
    `${owner ? limits : ''}exec 3<&0; (read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & ` +
    `exec ${setpriv ? `${setpriv} --no-new-privs ` : ''}"$@" 3<&- </dev/null${file === undefined ? ' 2>&1' : ''}`;
  return spawnWith('/bin/sh', ['-c', script, 'sh', path, ...args], {
    cwd: directory,
    env: mark ? { ...environment, STEPFORM_JOB: mark } : environment,
    ...owner,
    detached: true,
    stdio: ['pipe', file ?? 'pipe', 'pipe'],
  });
};

const yieldTo = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Already ended.
  }
};

/** Runs a program of the platform itself, without any variables of a run. @returns its output @throws {Error} */
export const help = async (
  program: string,
  args: string[],
  options: { timeout?: number } & Partial<Owner> = {},
): Promise<string> => {
  const environment = { cwd: '/', env: { PATH: process.env.PATH }, killSignal: 'SIGKILL' as const };
  return (await promisify(execFile)(program, args, { ...environment, ...options })).stdout;
};
