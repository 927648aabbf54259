import type { ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type Command,
  idOf,
  isAlive,
  type OnExit,
  type ProcessId,
  signal,
  start,
} from '#infra/local/host/processes.ts';

/** How long a runner waits for its next task. */
const idleMs = 10 * 60_000;

/** Properties of one task. */
export interface RunnerTask {
  /** Working directory. */
  folder: string;
  /** The complete environment. */
  environment: Record<string, string>;
  /** The task's console output is appended here. */
  log: string;
}

interface Runner {
  child: ChildProcess;
  id: ProcessId;
  niceness: number;
  /** Of the running task. */
  onEnd?: OnExit;
  idleTimer?: NodeJS.Timeout;
}

/**
 * Arguments for Node.
 * @param program exports `runTask`
 * @param ports file of moved-ports.ts
 */
export const runnerArguments = (program: string, ports: string): string[] => [
  // SIGUSR1 from any process of the same user would open Node's inspector, which exposes the runner's token.
  '--disable-sigusr1',
  join(import.meta.dirname, 'runner-process.mjs'),
  program,
  ports,
];

/**
 * Processes of the runner program. Each runs one task at a time, then waits for the next: starting Node and loading the
 * program takes longer than the runner's own work in a small run. If the platform ends, a process finishes its task and
 * exits. A process whose task failed or left something running exits too, and a new one replaces it.
 */
export class RunnerPool {
  readonly #command: Omit<Command, 'niceness'>;
  readonly #runners = new Set<Runner>();
  /** The most recently idle process is last. */
  readonly #idle: Runner[] = [];

  /** @param command its log gets the output of Node itself */
  constructor(command: Omit<Command, 'niceness'>) {
    this.#command = command;
  }

  /**
   * @param niceness of the process: only root could lower it later
   * @param onEnd called once
   * @throws {Error}
   */
  perform(task: RunnerTask, niceness: number, onEnd: OnExit): ProcessId {
    const runner = this.#takeIdle(niceness) ?? this.#start(niceness);
    runner.onEnd = onEnd;
    // A process that cannot be reached has ended, and its exit event follows.
    runner.child.send(task, () => {});
    return runner.id;
  }

  /** The process has this priority or a higher one. */
  #takeIdle(niceness: number): Runner | undefined {
    // The exit event of a killed process may still be pending.
    const runner = this.#idle.findLast((one) => one.niceness <= niceness && isAlive(one.id));
    if (runner) this.#forget(runner);
    return runner;
  }

  #start(niceness: number): Runner {
    let runner: Runner | undefined;
    const child = start({ ...this.#command, niceness, channel: true }, (code, reason) => {
      if (!runner) return;
      // Everything that a container's main process leaves running ends with the container.
      signal(runner.id, 'SIGKILL', 'group');
      this.#runners.delete(runner);
      this.#forget(runner);
      runner.onEnd?.(code, reason);
      runner.onEnd = undefined;
    });
    const one: Runner = { child, id: idOf(child), niceness };
    runner = one;
    child.on('message', ({ code }: { code: number }) => this.#ended(one, code));
    this.#runners.add(one);
    return one;
  }

  #ended(runner: Runner, code: number): void {
    const { onEnd } = runner;
    // The exit event came first.
    if (!onEnd) return;
    runner.onEnd = undefined;
    this.#idle.push(runner);
    runner.idleTimer = setTimeout(() => this.#release(runner), idleMs).unref();
    if (this.#idle.length > availableParallelism()) this.#release(this.#idle[0] as Runner);
    onEnd(code, 'Essential container in task exited');
  }

  /** The process exits as soon as it has no task. */
  #release(runner: Runner): void {
    this.#forget(runner);
    if (runner.child.connected) runner.child.disconnect();
  }

  #forget(runner: Runner): void {
    clearTimeout(runner.idleTimer);
    const at = this.#idle.indexOf(runner);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Idle processes exit now, the others after their task. */
  close(): void {
    for (const runner of this.#runners) this.#release(runner);
  }
}
