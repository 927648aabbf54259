import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Reports each test that has run for half a minute, while it runs, so that a hanging test is visible long before its
 * time limit.
 */
export class StillRunning implements Reporter {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  readonly #afterMs: number;

  constructor(afterMs = 30_000) {
    this.#afterMs = afterMs;
  }

  onTestCaseReady({ id, fullName, module }: TestCase): void {
    const began = performance.now();
    const tell = () => {
      const seconds = Math.round((performance.now() - began) / 1000);
      console.error(`still running after ${seconds} s: ${module.relativeModuleId}: ${fullName}`);
    };
    this.#timers.set(id, setInterval(tell, this.#afterMs).unref());
  }

  onTestCaseResult({ id }: TestCase): void {
    clearInterval(this.#timers.get(id));
    this.#timers.delete(id);
  }

  /** A test's result may be reported before its start. */
  onTestModuleEnd({ children }: TestModule): void {
    for (const test of children.allTests()) this.onTestCaseResult(test);
  }

  onTestRunEnd(): void {
    for (const timer of this.#timers.values()) clearInterval(timer);
    this.#timers.clear();
  }
}
