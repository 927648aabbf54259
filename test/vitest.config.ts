import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from '#test/support/longest-first.ts';
import { SecondTries } from '#test/support/second-tries.ts';
import { SkippedPage } from '#test/support/skipped-page.ts';
import { StillRunning } from '#test/support/still-running.ts';

// Bounds, not expectations. A wait ends before its test does, so that its message is read; what takes longer says so.
const common = {
  testTimeout: 120_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Each file in a process of its own, as `npm run test:alone` asks: what passes so depends on no file before it. */
const alone = process.env.STEPFORM_TEST_ALONE === '1';

/** Files share a process, with modules of their own: a process for each takes a tenth longer (ADR 166). */
const sharedProcess = { isolate: false, runner: 'test/support/file-runner.ts' };

/** Files in a random order, the same for the same seed, instead of the longest first. */
const seed = process.env.STEPFORM_TEST_SEED;
if (seed !== undefined) console.error(`Order of test files: STEPFORM_TEST_SEED=${seed}`);

/** A second try, in CI alone: other processes may be in the way. What needed it is named at the end. */
const retry = Number(process.env.STEPFORM_TEST_RETRIES ?? 0);

const report = process.env.STEPFORM_TEST_REPORT;

// The CDK, browsers and tests that are cut off leave things where temporary files go.
const temporary = mkdtempSync(join(tmpdir(), 'stepform-tests-'));
// Passable for the users that Terraform runs as.
chmodSync(temporary, 0o711);
process.env.TMPDIR = temporary;
process.env.STEPFORM_TEST_SCRATCH = temporary;
// Many processes read the same packages.
process.env.NODE_COMPILE_CACHE ??= join(temporary, 'compiled');
// Terraform, the bundler, forges and others are Go programs that end before collecting garbage pays: a third of their time.
process.env.GOGC ??= 'off';
process.env.GOMEMLIMIT ??= '1GiB';
process.on('exit', () => {
  try {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // A process that was cut off still writes there: that is no test's failure.
  }
});

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    // Tests wait for platforms and pages for more than a third of their time: so many keep two cores busy.
    maxWorkers: 5,
    sequence:
      seed === undefined ? { sequencer: LongestFirst } : { shuffle: { files: true, tests: false }, seed: Number(seed) },
    reporters: [
      'default',
      new StillRunning(),
      new SecondTries(),
      new SkippedPage(),
      // Results and durations, which CI keeps.
      ...(report ? [['json', { outputFile: report }] as ['json', object]] : []),
    ],
    tags: [{ name: 'elsewhere', description: 'also run against the deployment to an emulator (test/elsewhere)' }],
    projects: [
      {
        extends: true,
        test: {
          ...common,
          retry,
          name: 'unit',
          ...(alone ? {} : sharedProcess),
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/opa.ts'],
          exclude: ['test/e2e/**', 'test/attacks/**', 'test/clients/web/browser/**', 'test/version-control/e2e/**'],
        },
      },
      {
        extends: true,
        test: {
          ...common,
          retry,
          name: 'e2e',
          ...(alone ? {} : sharedProcess),
          include: ['test/e2e/**/*.test.ts', 'test/attacks/**/*.test.ts', 'test/version-control/e2e/**/*.test.ts'],
          globalSetup: ['test/support/opa.ts', 'test/e2e/support/setup.ts'],
          setupFiles: ['test/e2e/support/file.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...common,
          retry,
          name: 'browser',
          include: ['test/clients/web/browser/**/*.test.ts'],
          globalSetup: ['test/clients/web/browser/support/setup.ts'],
          runner: 'test/clients/web/browser/support/runner.ts',
          setupFiles: ['test/e2e/support/file.ts', 'test/clients/web/browser/support/file.ts'],
          // Playwright alone takes half a second to load: once for a worker, not for each of its files.
          isolate: false,
        },
      },
    ],
  },
});
