import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { messageOf } from '../../transport/errors.ts';
import type { Control, Stoppable } from '../control.ts';
import { InterruptedError, PhaseError } from '../errors.ts';
import { endProcesses } from './leftover-processes.ts';
import type { User } from './users.ts';

export interface Command {
  /** Absolute path of the binary. */
  path: string;
  args: string[];
  directory: string;
  environment: Record<string, string>;
  /** The user that the process runs as. */
  user: User;
  /** Receives standard output and error, in the order they were written; or a file for standard output alone. */
  output: ((bytes: Buffer) => void) | { file: string };
  /**
   * What it says once it heeds an interrupt, which waits for that; absent: at once. Terraform says "Stopping operation..." to one
   * that comes between its start and its first resource, and applies everything (1.11).
   */
  heedsFrom?: RegExp;
  /** Runs at low priority, for background work. */
  background?: boolean;
}

export interface ProcessResult {
  /** Null when it was ended by a signal. */
  code: number | null;
  /** Last bytes of standard error, where output goes to a file. */
  errors: string;
}

/**
 * Runs a command in its own process group, which ends with this program, however that ends: `read` waits for
 * the end of a pipe that only the runner holds. Both outputs share one pipe, to keep their order.
 */
const wrapper = (both: boolean): string =>
  `exec 3<&0; (read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$@" 3<&- </dev/null${both ? ' 2>&1' : ''}`;

const maxErrors = 16 * 1024;
/** How long to keep reading: a process that has left the group may hold the pipe forever. */
const drainMs = 2000;

/** How long an interrupt waits for what it has to wait for: an apply that changes nothing says nothing. */
const silentMs = 5_000;

/** A command that was started, with everything that it starts. */
export class Running implements Stoppable {
  /** Rejects with a {@link PhaseError}. */
  readonly ended: Promise<ProcessResult>;
  hasEnded = false;
  readonly #child: ChildProcess;
  readonly #heeds: Promise<void> | undefined;
  readonly #user: User;

  /**
   * @param waits it does nothing until {@link begins} is called
   * @throws {PhaseError}
   */
  constructor(command: Command, { waits = false } = {}) {
    this.#user = command.user;
    this.#child = spawnIt(command);
    if (waits) this.#user.waits(this.#group);
    else this.#user.entered();
    users.add(this.#user);
    this.#heeds = command.heedsFrom && said(this.#child, command.heedsFrom);
    this.ended = this.#end();
    this.ended.catch(() => {});
  }

  /** 0 where it could not be started. */
  get #group(): number {
    return this.#child.pid ?? 0;
  }

  begins(): void {
    this.#user.begins(this.#group);
  }

  /** Interrupts only Terraform, which stops its providers and provisioners in order. */
  interrupt(): void {
    const signal = () => this.#child.kill('SIGINT');
    if (this.#heeds) void this.#heeds.then(signal);
    else signal();
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // No process left.
    }
  }

  async #end(): Promise<ProcessResult> {
    let errors = Buffer.alloc(0);
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      errors = Buffer.concat([errors, bytes]).subarray(-maxErrors);
    });
    running.add(this);
    try {
      const code = await ended(this.#child, this, () => this.#user.left(this.#group));
      if (!this.#user.busy) users.delete(this.#user);
      return { code, errors: errors.toString('utf8') };
    } finally {
      this.hasEnded = true;
      running.delete(this);
    }
  }
}

const spawnIt = ({ path, args, directory, environment, output, user, background }: Command): ChildProcess => {
  const streamed = typeof output === 'function';
  const file = streamed ? undefined : openSync(output.file, 'w', 0o600);
  let child: ChildProcess;
  try {
    child = spawn('/bin/sh', ['-c', wrapper(streamed), 'sh', path, ...args], {
      cwd: directory,
      env: user.mark ? { ...environment, STEPFORM_JOB: user.mark } : environment,
      ...user.owner,
      detached: true,
      stdio: ['pipe', file ?? 'pipe', 'pipe'],
    });
  } catch (error) {
    throw new PhaseError(`Terraform could not be started: ${messageOf(error)}.`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
  if (background) yieldTo(child);
  child.stdin?.on('error', () => {});
  if (streamed) child.stdout?.on('data', output);
  return child;
};

/** Resolves when the output has it, when the process ends, or after a while. */
const said = (child: ChildProcess, sign: RegExp): Promise<void> =>
  new Promise((resolve) => {
    let end = '';
    const hear = (bytes: Buffer): void => {
      const text = end + bytes.toString('latin1');
      end = text.slice(-200);
      if (sign.test(text)) done();
    };
    const done = (): void => {
      clearTimeout(timer);
      child.stdout?.off('data', hear);
      resolve();
    };
    const timer = setTimeout(done, silentMs);
    child.stdout?.on('data', hear);
    child.once('exit', done);
    child.once('error', done);
  });

const running = new Set<Running>();
/** Users that have a process now. */
const users = new Set<User>();

/** Kills everything that still runs, with its children; for the runner's exit. */
export const killEverything = async (): Promise<void> => {
  for (const one of running) one.kill();
  await Promise.all([...users].map((user) => endProcesses(user)));
};

/**
 * Resolves when the process has ended, its output is read and nothing that it started is left.
 * @throws {InterruptedError} when a stop was requested before it started
 */
export const run = async (command: Command, control: Control): Promise<ProcessResult> => {
  if (control.cause) throw new InterruptedError('interrupted before it was started');
  return heeding(control, new Running(command));
};

/** Passes requests to stop on to it. */
export const heeding = async (control: Control, one: Running): Promise<ProcessResult> => {
  control.attach(one);
  try {
    return await one.ended;
  } finally {
    control.detach(one);
  }
};

const yieldTo = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Gone already.
  }
};

const ended = (child: ChildProcess, group: Stoppable, leave: () => Promise<void>): Promise<number | null> =>
  new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let left = Promise.resolve();
    child.on('error', (error) => {
      leave().catch(() => {});
      reject(new PhaseError(`Terraform could not be started: ${messageOf(error)}.`));
    });
    child.on('exit', () => {
      group.kill();
      left = leave();
      left.catch(() => {});
      timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, drainMs);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      left.then(() => resolve(code), reject);
    });
  });
