import type { RetryBound } from '#platform/net/transport/retry.ts';
import type { Heartbeat } from '#run/protocols/runner.ts';

/** A process that can be stopped: a running Terraform. */
export interface Stoppable {
  /** Like Ctrl-C. */
  interrupt(): void;
  /** Kills it with everything it has started. */
  kill(): void;
}

/** The container's host allows at most 120 s between the stop request and the end (AWS Fargate: stopTimeout). */
const terraformGraceMs = 85_000;
const lastCallMs = 105_000;
/** How long a phase's last calls are retried without a stop request. */
const patientMs = 600_000;

/**
 * Stop requests for this phase, passed on to the running processes. `interrupt` comes from the control plane,
 * `stopped` from the host; the first one counts.
 */
export class Control {
  readonly #running = new Set<Stoppable>();
  readonly #over = new AbortController();
  readonly #stopRequested = new AbortController();
  #stoppedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  cause: 'interrupt' | 'stopped' | undefined;
  killed = false;
  isClosed = false;

  /** Aborted when the token was revoked: nothing may be written after that. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Aborted on the first stop request, for work that can be cut off, like a download. */
  get asked(): AbortSignal {
    return this.#stopRequested.signal;
  }

  /**
   * How long the phase's calls may be retried from now on. After a stop request of the host, `spareMs` is reserved
   * for the calls that follow.
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

  /** Called when the host requests a stop. */
  stop(): void {
    if (this.#stoppedAt !== undefined) return;
    this.#stoppedAt = Date.now();
    this.#timer = setTimeout(() => this.kill(), terraformGraceMs);
    this.#timer.unref();
    this.#interrupt('stopped');
  }

  kill(): void {
    this.killed = true;
    this.#stopRequested.abort();
    for (const process of this.#running) process.kill();
  }

  /** Called when the control plane has rejected the runner's token. */
  end(): void {
    this.kill();
    this.#over.abort();
  }

  /** Passes on stop requests while the process runs, including an earlier one. */
  attach(process: Stoppable): void {
    this.#running.add(process);
    if (this.killed) process.kill();
  }

  detach(process: Stoppable): void {
    this.#running.delete(process);
  }

  /** Ends the timer; the phase is over. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Interrupts only once: at a second interrupt Terraform abandons its work halfway. */
  #interrupt(cause: 'interrupt' | 'stopped'): void {
    if (this.cause) return;
    this.cause = cause;
    this.#stopRequested.abort();
    for (const process of this.#running) process.interrupt();
  }
}
