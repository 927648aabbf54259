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

/** What one task has to itself. */
export interface RunnerTask {
  /** Working directory. */
  folder: string;
  /** The whole environment. */
  environment: Record<string, string>;
  /** What its console writes is appended here. */
  log: string;
}

interface Runner {
  child: ChildProcess;
  id: ProcessId;
  niceness: number;
  /** Of the task at work. */
  onEnd?: OnExit;
  idleTimer?: NodeJS.Timeout;
}

/** Arguments for Node. @param program exports `runTask` @param ports file of moved-ports.ts */
export const runnerArguments = (program: string, ports: string): string[] => [
  // SIGUSR1 from any process of the same user would open Node's inspector, and with it the runner's token.
  '--disable-sigusr1',
  join(import.meta.dirname, 'runner-process.mjs'),
  program,
  ports,
];

/**
 * Processes of the runner's program. Each performs one task at a time, then waits for the next: starting Node and loading the program takes
 * longer than a runner's own part of a small run. A process whose platform has ended finishes its task and ends. One that has not ended its
 * task in order, or has left something behind, ends too, and a new one takes its place.
 */
export class RunnerPool {
  readonly #command: Omit<Command, 'niceness'>;
  readonly #runners = new Set<Runner>();
  /** The one that became idle last is the last. */
  readonly #idle: Runner[] = [];

  /** @param command whose log gets what Node itself writes */
  constructor(command: Omit<Command, 'niceness'>) {
    this.#command = command;
  }

  /** @param niceness of the process: only root could lower it later @param onEnd called once @throws {Error} */
  perform(task: RunnerTask, niceness: number, onEnd: OnExit): ProcessId {
    const runner = this.#takeIdle(niceness) ?? this.#start(niceness);
    runner.onEnd = onEnd;
    // One that cannot be reached has ended, and says so itself.
    runner.child.send(task, () => {});
    return runner.id;
  }

  #takeIdle(niceness: number): Runner | undefined {
    // One that was killed may not have been reported yet.
    const runner = this.#idle.findLast((one) => one.niceness === niceness && isAlive(one.id));
    if (runner) this.#forget(runner);
    return runner;
  }

  #start(niceness: number): Runner {
    let runner: Runner | undefined;
    const child = start({ ...this.#command, niceness, channel: true }, (code, reason) => {
      if (!runner) return;
      // What a container's main process leaves behind dies with the container.
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
    // Its exit was reported first.
    if (!onEnd) return;
    runner.onEnd = undefined;
    this.#idle.push(runner);
    runner.idleTimer = setTimeout(() => this.#release(runner), idleMs).unref();
    if (this.#idle.length > availableParallelism()) this.#release(this.#idle[0] as Runner);
    onEnd(code, 'Essential container in task exited');
  }

  /** It ends as soon as it has no task. */
  #release(runner: Runner): void {
    this.#forget(runner);
    if (runner.child.connected) runner.child.disconnect();
  }

  #forget(runner: Runner): void {
    clearTimeout(runner.idleTimer);
    const at = this.#idle.indexOf(runner);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Idle runners end now, others with their task. */
  close(): void {
    for (const runner of this.#runners) this.#release(runner);
  }
}
