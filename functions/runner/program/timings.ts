/** Milliseconds by step; repeated steps add up. */
export class Timings {
  readonly ms: Record<string, number> = {};
  readonly #started = performance.now();
  readonly #startedAt = new Date().toISOString();
  readonly #began: Record<string, number> = {};

  async measure<T>(step: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    this.#began[step] ??= Math.round(started - this.#started);
    try {
      return await work();
    } finally {
      this.ms[step] = (this.ms[step] ?? 0) + Math.round(performance.now() - started);
    }
  }

  /** When each step first began, in milliseconds after `at`, which is in this machine's clock. */
  get steps(): { at: string; began: Record<string, number> } {
    return { at: this.#startedAt, began: this.#began };
  }

  /** All steps, and the total since the phase began. */
  all(): Record<string, number> {
    return { ...this.ms, total: Math.round(performance.now() - this.#started) };
  }
}
