import { availableParallelism, cpus } from 'node:os';

/** Interval of processor measurements while a task waits or may soon wait. */
const lookMs = 100;
const defaultPauseMs = 2000;
/** A task waits half of its time: for its own processes to start, for the platform, for a disk. */
const perProcessor = 2;
/** From this idle share of one processor on, the running tasks are waiting for something else. */
const idleShare = 0.5;

export interface AdmissionOptions {
  /** Number of running tasks. */
  running(): number;
  /** Tasks that may start on a busy machine. */
  slots?: number;
  /** Processors that were idle since the previous call, 0 to their number. */
  idle?(): number;
  /** After this long without a start the next task starts, even on a busy machine. */
  maxPauseMs?: number;
}

interface Waiting {
  id: string;
  start(): void;
}

/**
 * Decides which tasks run in parallel on one machine, in arrival order. Terraform keeps a processor busy or waits for a
 * cloud: two tasks per processor start at once, more when a processor is idle, and one every two seconds in any case, so
 * that tasks that hang or wait for a user do not block others for long.
 */
export class Admission {
  readonly #running: () => number;
  readonly #slots: number;
  readonly #idle: () => number;
  readonly #maxPauseMs: number;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #isIdle = false;

  constructor({
    running,
    slots = perProcessor * availableParallelism(),
    idle = idleProcessors(),
    maxPauseMs = defaultPauseMs,
  }: AdmissionOptions) {
    this.#running = running;
    this.#slots = slots;
    this.#idle = idle;
    this.#maxPauseMs = maxPauseMs;
  }

  /** Whether the next task would wait. */
  get isFull(): boolean {
    return this.#waiting.length > 0 || !this.#hasRoom();
  }

  /**
   * Starts the task now if there is capacity, otherwise when it is first in line. `start` increases the number of
   * running tasks.
   */
  admit(id: string, start: () => void): void {
    this.#waiting.push({ id, start });
    this.look();
  }

  /** @returns whether it was waiting */
  withdraw(id: string): boolean {
    const at = this.#waiting.findIndex((one) => one.id === id);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Call when a task has stopped. */
  look(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) {
      this.#isIdle = false;
      this.#startedAt = performance.now();
      this.#waiting.shift()?.start();
    }
    if (this.#timer || this.#running() < this.#slots) return;
    this.#idle();
    this.#timer = setInterval(() => this.#watch(), lookMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#waiting.length = 0;
  }

  #hasRoom(): boolean {
    return this.#running() < this.#slots || this.#isIdle || performance.now() - this.#startedAt >= this.#maxPauseMs;
  }

  #watch(): void {
    this.#isIdle = this.#idle() >= idleShare;
    if (this.#waiting.length === 0 && this.#running() < this.#slots) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else this.look();
  }
}

const idleProcessors = (): (() => number) => {
  const read = () => {
    const all = cpus().map(({ times }) => times);
    const idle = all.reduce((sum, times) => sum + times.idle, 0);
    return {
      idle,
      all: all.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle),
      count: all.length,
    };
  };
  let before = read();
  return () => {
    const now = read();
    const passed = now.all - before.all;
    const share = passed > 0 ? ((now.idle - before.idle) / passed) * now.count : 0;
    before = now;
    return share;
  };
};
