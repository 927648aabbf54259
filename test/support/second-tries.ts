import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Reporter, TestCase } from 'vitest/node';
import { machineCache } from '#infra/local/host/machine-cache.ts';

/** Times at which each test passed only at its second try (UTC ISO 8601), by file and name. */
export type SecondTryHistory = Record<string, string[]>;

const keptDays = 30;
/** More second tries than this within a month are a defect, of the test or of its subject. */
const tolerated = 2;

/** Adds this run's tests to the history, and drops entries older than a month. */
export const addToHistory = (history: SecondTryHistory, tests: string[], now: Date): SecondTryHistory => {
  const oldest = new Date(now.getTime() - keptDays * 24 * 3_600_000).toISOString();
  const all = [...Object.entries(history), ...tests.map((name) => [name, [now.toISOString()]] as const)];
  const kept: SecondTryHistory = {};
  for (const [name, times] of all) {
    const recent = [...(kept[name] ?? []), ...times.filter((at) => at >= oldest)];
    if (recent.length > 0) kept[name] = recent;
  }
  return kept;
};

/** Tests that needed a second try too often. */
export const tooOften = (history: SecondTryHistory): string[] =>
  Object.entries(history)
    .filter(([, { length }]) => length > tolerated)
    .map(([name, { length }]) => `${name} (${length} times in ${keptDays} days)`);

const read = (file: string): SecondTryHistory => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SecondTryHistory;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') console.error(`${file} is read as empty: ${error}`);
    return {};
  }
};

/**
 * Reports tests that passed only at a second try, with the first failure. They are counted in a file that outlives the
 * run (STEPFORM_SECOND_TRIES; in the user's cache by default); a test that is in it too often fails the run.
 */
export class SecondTries implements Reporter {
  readonly #flaky = new Map<string, string>();

  readonly #file: string;

  constructor(
    file = process.env.STEPFORM_SECOND_TRIES ?? join(process.env.STEPFORM_CACHE || machineCache, 'second-tries.json'),
  ) {
    this.#file = file;
  }

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const reasons = (test.result().errors ?? []).map(
      ({ message, diff, stack }) => `\n  ${message}\n${diff ?? ''}\n${stack ?? ''}`,
    );
    this.#flaky.set(`${test.module.relativeModuleId}: ${test.fullName}`, reasons.join(''));
  }

  onTestRunEnd(): void {
    if (this.#flaky.size === 0) return;
    for (const [test, reasons] of this.#flaky) console.error(`passed at the second try only: ${test}${reasons}`);
    const history = addToHistory(read(this.#file), [...this.#flaky.keys()], new Date());
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(history, undefined, 2));
    // Tests that did not need a second try in this run do not fail it.
    const bad = tooOften(history).filter((text) => [...this.#flaky.keys()].some((name) => text.startsWith(name)));
    if (bad.length === 0) return;
    console.error(`These tests needed a second try too often (${this.#file}); mend them:\n  ${bad.join('\n  ')}`);
    process.exitCode = 1;
  }
}
