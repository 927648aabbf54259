import type { PhaseReport } from '#run/phase-report.ts';

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

  get steps(): NonNullable<PhaseReport['steps']> {
    return { at: this.#startedAt, began: this.#began, took: this.ms };
  }

  /** All steps, and the total since the phase began. */
  all(): Record<string, number> {
    return { ...this.ms, total: Math.round(performance.now() - this.#started) };
  }
}
