/** Milliseconds by step; repeated steps add up. */
export class Timings {
  readonly ms: Record<string, number> = {};
  readonly #started = performance.now();

  async measure<T>(step: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.ms[step] = (this.ms[step] ?? 0) + Math.round(performance.now() - started);
    }
  }

  /** All steps, and the total since the phase began. */
  all(): Record<string, number> {
    return { ...this.ms, total: Math.round(performance.now() - this.#started) };
  }
}
