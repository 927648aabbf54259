import type { ChildProcess } from 'node:child_process';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { Control, Stoppable } from '../control.ts';
import { InterruptedError, PhaseError } from '../errors.ts';
import { watchDisk } from './disk.ts';
import { launch, type Program } from './launch.ts';
import { notMade } from './room.ts';
import type { User } from './users.ts';

export interface Command extends Program {
  user: User;
  /**
   * An interrupt is delayed until this output; absent: not delayed. If an interrupt arrives between Terraform's start and
   * its first resource, Terraform prints "Stopping operation..." and applies everything (1.11).
   */
  heedsFrom?: RegExp;
}

export interface ProcessResult {
  /** Null if a signal ended it. */
  code: number | null;
  /** Last bytes of standard error, if output goes to a file. */
  errors: string;
}

const maxErrors = 16 * 1024;
/** How long to keep reading: a process that has left the group may keep the pipe open forever. */
const drainMs = 2000;

/** Maximum wait for {@link Command.heedsFrom}: an apply without changes never prints it. */
const silentMs = 5_000;

/** A running command with all its child processes. */
class Running implements Stoppable {
  /** Rejects with a {@link PhaseError}. */
  readonly ended: Promise<ProcessResult>;
  readonly #child: ChildProcess;
  readonly #heeds: Promise<void> | undefined;
  readonly #user: User;

  /** @throws {PhaseError} */
  constructor(command: Command) {
    this.#user = command.user;
    this.#child = launch(command);
    this.#user.entered();
    users.add(this.#user);
    this.#heeds = command.heedsFrom && outputContains(this.#child, command.heedsFrom);
    this.ended = this.#end();
    this.ended.catch(() => {});
  }

  /** Interrupts only Terraform, which stops its providers and provisioners in order. */
  interrupt(): void {
    const signal = () => void (this.#user.room ? this.#child.stdin?.write('INT\n') : this.#child.kill('SIGINT'));
    if (this.#heeds) void this.#heeds.then(signal);
    else signal();
  }

  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // No process is left.
    }
  }

  async #end(): Promise<ProcessResult> {
    let errors = Buffer.alloc(0);
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      errors = Buffer.concat([errors, bytes]).subarray(-maxErrors);
    });
    running.add(this);
    try {
      const code = await ended(this.#child, this, () => this.#user.left());
      if (!this.#user.busy) users.delete(this.#user);
      return { code: this.#user.room ? codeOf(code, errors) : code, errors: errors.toString('utf8') };
    } finally {
      running.delete(this);
    }
  }
}

/** Shells add this to the number of the signal that ended a program. */
const firstSignal = 128;
const lastSignal = 192;

/** The room could not be created, so the command was not started. */
class NoRoomError extends PhaseError {}

/** @throws {NoRoomError} */
const codeOf = (code: number | null, errors: Buffer): number | null => {
  const why = /^(unshare|setpriv): .*/m.exec(errors.toString('utf8'))?.[0];
  if (code === notMade || (why && code !== 0))
    throw new NoRoomError(
      `The room for Terraform could not be created: ${why ?? errors.toString('utf8').trim()}. Correct this on the machine, or ` +
        'start the platform or agent with STEPFORM_ROOMS=none to run without rooms (see the documentation on security).',
    );
  return code !== null && code > firstSignal && code <= lastSignal ? null : code;
};

const moreTries = 2;

/** Tries again without a room: one of the machine's mounts may have ended while the room was created. */
const tryAgain = async <T>(perform: () => Promise<T>): Promise<T> => {
  for (let left = moreTries; ; left -= 1) {
    try {
      return await perform();
    } catch (error) {
      if (!(error instanceof NoRoomError) || left === 0) throw error;
    }
  }
};

/** Resolves when the output contains the sign, when the process ends, or after a time limit. */
const outputContains = (child: ChildProcess, sign: RegExp): Promise<void> =>
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
/** Users with running processes. */
const users = new Set<User>();

/** Kills all running processes and their children, before the runner exits. */
export const killEverything = async (): Promise<void> => {
  for (const one of running) one.kill();
  await Promise.all([...users].map((user) => user.end()));
};

/**
 * Resolves when the process has ended, its output is read and none of its child processes is left.
 * @throws {InterruptedError} if a stop was requested before it started
 */
export const run = (command: Command, control: Control): Promise<ProcessResult> =>
  tryAgain(() => runOnce(command, control));

const runOnce = async (command: Command, control: Control): Promise<ProcessResult> => {
  if (control.cause) throw new InterruptedError('interrupted before it was started');
  const one = new Running(command);
  const { folder, owner } = command.user;
  let full: string | undefined;
  const endWatch =
    folder &&
    owner &&
    watchDisk(folder, owner, {
      interrupt: (why) => {
        full = why;
        one.interrupt();
      },
      kill: () => one.kill(),
    });
  control.attach(one);
  try {
    const result = await one.ended;
    if (full) throw new PhaseError(full);
    return result;
  } finally {
    if (endWatch) endWatch();
    control.detach(one);
  }
};

/**
 * @returns standard output of a short command
 * @throws {Error} with all output, if it fails or takes too long
 */
export const outputOf = (command: Omit<Command, 'output'>, timeoutMs: number): Promise<string> =>
  tryAgain(() => outputOnce(command, timeoutMs));

const outputOnce = async (command: Omit<Command, 'output'>, timeoutMs: number): Promise<string> => {
  const chunks: Buffer[] = [];
  const one = new Running({ ...command, output: (bytes) => void chunks.push(bytes) });
  const timer = setTimeout(() => one.kill(), timeoutMs);
  const { code } = await one.ended.finally(() => clearTimeout(timer));
  const text = Buffer.concat(chunks).toString('utf8');
  if (code !== 0) throw new Error(text);
  return text;
};

const readyMs = 10_000;

/**
 * Starts a helper that runs beside other commands, and waits until its output contains `sign`.
 * @throws {Error} with its output, if the helper ends or takes too long before that
 */
export const beside = async (
  command: Omit<Command, 'output'>,
  sign: string,
): Promise<{ end: () => Promise<unknown> }> => {
  let text = '';
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const hear = (bytes: Buffer): void => {
    text = (text + bytes.toString('utf8')).slice(-maxErrors);
    if (text.includes(sign)) begin();
  };
  const one = new Running({ ...command, output: hear });
  const end = (): Promise<unknown> => {
    one.kill();
    return one.ended;
  };
  const timer = setTimeout(() => one.kill(), readyMs);
  await Promise.race([begun, one.ended]).finally(() => clearTimeout(timer));
  if (text.includes(sign)) return { end };
  await end();
  throw new Error(text);
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
