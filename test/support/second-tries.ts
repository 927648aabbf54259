import type { Reporter, TestCase } from 'vitest/node';

/** Names the tests that passed at a second try only. Each is a defect of the test, or of what it tests. */
export class SecondTries implements Reporter {
  readonly #flaky: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#flaky.push(`${test.module.moduleId}: ${test.fullName}`);
  }

  onTestRunEnd(): void {
    for (const test of this.#flaky) console.error(`passed at the second try only: ${test}`);
  }
}
