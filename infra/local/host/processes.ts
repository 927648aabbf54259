import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { setPriority, uptime } from 'node:os';
import { dirname } from 'node:path';

/** A process; its start time tells it from a later one with the same id. */
export interface ProcessId {
  pid: number;
  startedAt: string;
}

/** Start time of a process in the system's unit; undefined if it does not exist or is a zombie. */
export const startOf = (pid: number): string | undefined => {
  if (process.platform === 'linux') {
    try {
      // proc(5): the command, in parentheses, may itself contain both; state and start time are fields 3 and 22.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
      return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${bootId()}/${fields[19]}`;
    } catch {
      return undefined;
    }
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: { LC_ALL: 'C' } }).trim();
  } catch {
    return undefined;
  }
};

let boot: string | undefined;
const bootId = (): string => {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return boot;
};

export const isAlive = ({ pid, startedAt }: ProcessId): boolean => startOf(pid) === startedAt;

/**
 * The leader of a process group that works in a folder, if the system shows it; for a process that was not recorded.
 */
export const groupLeaderIn = (folder: string): ProcessId | undefined => {
  if (process.platform !== 'linux' || !existsSync(folder)) return undefined;
  const real = realpathSync(folder);
  for (const pid of readdirSync('/proc').map(Number)) {
    try {
      if (!pid || readlinkSync(`/proc/${pid}/cwd`) !== real) continue;
      // proc(5): behind the command, in parentheses, are state, parent and group.
      const group = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[2];
      const startedAt = startOf(pid);
      if (Number(group) === pid && startedAt) return { pid, startedAt };
    } catch {
      // It has ended, or belongs to another user.
    }
  }
  return undefined;
};

/** Sends a signal unless the target has ended. `group` reaches all its descendants, like the end of a container. */
export const signal = (target: ProcessId, name: NodeJS.Signals, whole: 'process' | 'group'): void => {
  const leader = startOf(target.pid);
  try {
    if (whole === 'process') {
      if (leader === target.startedAt) process.kill(target.pid, name);
      return;
    }
    // The system does not reuse an id while a group with it exists: another leader means that the group has ended.
    if (leader === target.startedAt || (leader === undefined && sinceBoot(target))) process.kill(-target.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const sinceBoot = ({ startedAt }: ProcessId): boolean =>
  process.platform === 'linux' ? startedAt.startsWith(bootId()) : Date.parse(startedAt) > Date.now() - uptime() * 1000;

export interface Command {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Output is appended to this file, not piped, so that the process can outlive its parent. */
  log: string;
  /** Niceness, 0 to 19. */
  niceness?: number;
  /** Whether the process has a message channel. */
  channel?: boolean;
}

/** Called with the exit code, or 128 + signal number like a shell and ECS. */
export type OnExit = (code: number | undefined, reason: string) => void;

/** Starts a process as the leader of its own group. */
export const launch = (command: Command, onExit: OnExit): ProcessId => idOf(start(command, onExit));

/**
 * Like {@link launch}.
 * @throws {Error}
 */
export const start = (command: Command, onExit: OnExit): ChildProcess => {
  mkdirSync(dirname(command.log), { recursive: true });
  const log = openSync(command.log, 'a', 0o600);
  try {
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: command.env,
      detached: true,
      stdio: ['ignore', log, log, ...(command.channel ? (['ipc'] as const) : [])],
    });
    child.once('error', (error) => onExit(undefined, `CannotStartContainerError: ${error.message}`));
    child.once('exit', (code, by) =>
      onExit(code ?? 128 + (signals[by ?? ''] ?? 0), 'Essential container in task exited'),
    );
    child.unref();
    child.channel?.unref();
    if (child.pid === undefined) throw new Error(`CannotStartContainerError: ${command.file} cannot be started`);
    if (command.niceness) setPriority(child.pid, command.niceness);
    return child;
  } finally {
    closeSync(log);
  }
};

export const idOf = ({ pid = 0 }: ChildProcess): ProcessId => ({ pid, startedAt: startOf(pid) ?? 'gone' });

const signals: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};
