/** Lambda makes three attempts of an asynchronous invocation; the waits are shorter here, where users watch. */
const retryMs = [1_000, 5_000];
const throttledMs = 1_000;

/** Pending asynchronous work, in memory: it is lost when the platform ends. */
export class AsyncInvocations {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #log: (line: string) => void;
  #closed = false;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  after(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }

  /**
   * Does the work now, and retries when it rejects.
   * @param what name of the work in the log
   */
  async attempt(what: string, work: () => Promise<unknown>, failures = 0): Promise<void> {
    if (this.#closed) return;
    try {
      await work();
    } catch (error) {
      // A throttled event returns to Lambda's queue, for up to six hours (Lambda: asynchronous invocation errors).
      const isThrottled = (error as Error).name === 'TooManyRequestsException';
      const wait = isThrottled ? throttledMs : retryMs[failures];
      const next = wait === undefined ? 'given up' : `again in ${wait} ms`;
      this.#log(`${what} failed (${(error as Error).name}: ${(error as Error).message}); ${next}`);
      if (wait === undefined || this.#closed) return;
      this.after(wait, () => void this.attempt(what, work, isThrottled ? failures : failures + 1));
    }
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
