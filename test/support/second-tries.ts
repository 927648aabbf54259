import type { Reporter, TestCase } from 'vitest/node';

/** Names the tests that passed at a second try only, and why the first one failed. Each is a defect of the test, or of what it tests. */
export class SecondTries implements Reporter {
  readonly #flaky: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const reasons = (test.result().errors ?? []).map(
      ({ message, diff, stack }) => `\n  ${message}\n${diff ?? ''}\n${stack ?? ''}`,
    );
    this.#flaky.push(`${test.module.moduleId}: ${test.fullName}${reasons.join('')}`);
  }

  onTestRunEnd(): void {
    for (const test of this.#flaky) console.error(`passed at the second try only: ${test}`);
  }
}
