import type { Heartbeat } from '../protocols/runner.ts';
import type { RetryBound } from '../transport/retry.ts';

/** Something that can be told to stop: a running Terraform. */
export interface Stoppable {
  /** As Ctrl-C does. */
  interrupt(): void;
  /** At once, with everything it has started. */
  kill(): void;
}

/** A container's host leaves at most 120 s between the request to stop and the end (AWS Fargate: stopTimeout). */
const terraformGraceMs = 85_000;
const lastCallMs = 105_000;
/** How long the last calls of a phase are tried while nobody presses. */
const patientMs = 600_000;

/**
 * What has been asked of this phase, and who has to be told. `interrupt` comes from the control plane, `stopped` from
 * the host; the first one counts.
 */
export class Control {
  readonly #running = new Set<Stoppable>();
  readonly #over = new AbortController();
  readonly #asked = new AbortController();
  #stoppedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  cause: 'interrupt' | 'stopped' | undefined;
  killed = false;

  /** Aborted when the token is dead: nothing may be written any more. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Aborted as soon as anything is asked: for work that need not end in order, like a download. */
  get asked(): AbortSignal {
    return this.#asked.signal;
  }

  /**
   * How long the phase's calls may be tried from now on; shorter once the host wants an end, by `spareMs` more for what
   * has to come after them.
   */
  patience(ms = patientMs, spareMs = 0): RetryBound {
    const end = Date.now() + ms;
    const until = () => (this.#stoppedAt === undefined ? end : Math.min(end, this.#stoppedAt + lastCallMs - spareMs));
    return { until, signal: this.over };
  }

  heed({ signal }: Heartbeat): void {
    if (signal === 'interrupt') this.#interrupt('interrupt');
    if (signal === 'kill') {
      this.cause ??= 'interrupt';
      this.kill();
    }
  }

  /** The host wants the runner gone. */
  stop(): void {
    if (this.#stoppedAt !== undefined) return;
    this.#stoppedAt = Date.now();
    this.#timer = setTimeout(() => this.kill(), terraformGraceMs);
    this.#timer.unref();
    this.#interrupt('stopped');
  }

  kill(): void {
    this.killed = true;
    this.#asked.abort();
    for (const one of this.#running) one.kill();
  }

  /** The control plane has disowned the runner. */
  end(): void {
    this.kill();
    this.#over.abort();
  }

  /** Passes on what is asked while it runs, and what has been asked before. */
  attach(one: Stoppable): void {
    this.#running.add(one);
    if (this.killed) one.kill();
  }

  detach(one: Stoppable): void {
    this.#running.delete(one);
  }

  /** Ends the timer; the phase is over. */
  close(): void {
    clearTimeout(this.#timer);
  }

  /** Once only: at a second interrupt Terraform gives up its work half done. */
  #interrupt(cause: 'interrupt' | 'stopped'): void {
    if (this.cause) return;
    this.cause = cause;
    this.#asked.abort();
    for (const one of this.#running) one.interrupt();
  }
}
