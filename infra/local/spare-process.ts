import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type Command, isAlive, launchWaiting, type OnExit, type ProcessId, type Waiting } from './processes.ts';

/** How the process of a task is started, but for what the task itself brings. */
export interface TaskCommand extends Command {
  /** Of the task. */
  id: string;
}

const awaitTask = new URL('await-task.mjs', import.meta.url).href;

/** Of a task. */
export const newId = (): string => randomBytes(16).toString('hex');

interface Spare {
  command: TaskCommand;
  process: Waiting;
  onExit?: OnExit;
}

/** A process that is a task's from now on. */
export interface Taken {
  command: TaskCommand;
  /** Gives it the rest of its environment, with which it goes on to its program. */
  begin(environment: Record<string, string>, onExit: OnExit, niceness: number): ProcessId;
}

/** What a task does first shall not wait for this. */
const afterTaskMs = 2_000;
/** So long one waits; the task after that starts as the first. */
const idleMs = 600_000;

/**
 * At most one process that has started Node and waits to become a task's: one task's, and with nothing of another's. None
 * before the first task, so that who runs nothing pays nothing.
 */
export class SpareProcess {
  readonly #commandOf: (id: string) => TaskCommand;
  #spare: Spare | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(commandOf: (id: string) => TaskCommand) {
    this.#commandOf = commandOf;
  }

  /** Call when a task was started or has stopped; `now` where a processor has become free. */
  prepare({ now = false } = {}): void {
    if (this.#closed || this.#spare) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#start(), now ? 0 : afterTaskMs).unref();
  }

  take(): Taken | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    clearTimeout(this.#timer);
    if (!spare || !isAlive(spare.process.id)) return undefined;
    return {
      command: spare.command,
      begin: (environment, onExit, niceness) => {
        spare.onExit = onExit;
        if (niceness) setPriority(spare.process.id.pid, niceness);
        spare.process.begin(JSON.stringify(environment));
        return spare.process.id;
      },
    };
  }

  /** Ends the one that waits. */
  close(): void {
    this.#closed = true;
    this.#end();
  }

  #start(): void {
    if (this.#closed || this.#spare) return;
    try {
      const command = this.#commandOf(newId());
      const args = ['--import', awaitTask, ...command.args];
      const spare: Spare = {
        command,
        process: launchWaiting({ ...command, args }, (code, reason) => {
          if (this.#spare === spare) this.#spare = undefined;
          if (spare.onExit) spare.onExit(code, reason);
          else for (const path of [command.cwd, command.log]) rmSync(path, { recursive: true, force: true });
        }),
      };
      this.#spare = spare;
      this.#timer = setTimeout(() => this.#end(), idleMs).unref();
    } catch {
      // The next task starts without.
    }
  }

  #end(): void {
    clearTimeout(this.#timer);
    // It ends with its input.
    this.#spare?.process.begin('');
    this.#spare = undefined;
  }
}
