import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from '#test/support/longest-first.ts';
import { SkippedPage } from '#test/support/skipped-page.ts';
import { StillRunning } from '#test/support/still-running.ts';

// Time limits, not expectations. A wait's limit is below its test's, so that its message is shown; longer tests name
// their limit.
const common = {
  testTimeout: 120_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
};

/** Each file in a separate process, for `npm run test:alone`: a file that passes there depends on no earlier file. */
const alone = process.env.STEPFORM_TEST_ALONE === '1';

/** Files share a process, with modules of their own: one process per file takes a tenth longer (ADR 166). */
const sharedProcess = { isolate: false, runner: 'test/support/file-runner.ts' };

/** Files in a random order, reproducible by the seed, instead of longest first. */
const seed = process.env.STEPFORM_TEST_SEED;
if (seed !== undefined) console.error(`Order of test files: STEPFORM_TEST_SEED=${seed}`);

const report = process.env.STEPFORM_TEST_REPORT;

// The CDK, browsers and interrupted tests leave files in the temporary folder.
const temporary = mkdtempSync(join(tmpdir(), 'stepform-tests-'));
// Accessible to the users that Terraform runs as.
chmodSync(temporary, 0o711);
process.env.TMPDIR = temporary;
process.env.STEPFORM_TEST_SCRATCH = temporary;
// Many processes read the same packages.
process.env.NODE_COMPILE_CACHE ??= join(temporary, 'compiled');
// Terraform, the bundler, forges and others are Go programs that exit before garbage collection pays off; it would take
// a third of their time.
process.env.GOGC ??= 'off';
process.env.GOMEMLIMIT ??= '1GiB';
process.on('exit', () => {
  try {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // An interrupted process may still write there; that does not fail a test.
  }
});

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    // Tests wait for platforms and pages for more than a third of their time: this many keep two cores busy.
    maxWorkers: 5,
    sequence:
      seed === undefined ? { sequencer: LongestFirst } : { shuffle: { files: true, tests: false }, seed: Number(seed) },
    reporters: [
      'default',
      new StillRunning(),
      new SkippedPage(),
      // Results and durations, which CI stores.
      ...(report ? [['json', { outputFile: report }] as ['json', object]] : []),
    ],
    // What passing tests log would hide what failing ones do.
    silent: 'passed-only',
    tags: [{ name: 'elsewhere', description: 'also run against the deployment to an emulator (test/elsewhere)' }],
    projects: [
      {
        extends: true,
        test: {
          ...common,
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
          // Not vitest's 50 ms: most of these polls ask the platform several questions.
          expect: { poll: { ...common.expect.poll, interval: 250 } },
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
          name: 'browser',
          include: ['test/clients/web/browser/**/*.test.ts'],
          globalSetup: ['test/clients/web/browser/support/setup.ts'],
          runner: 'test/clients/web/browser/support/runner.ts',
          setupFiles: ['test/e2e/support/file.ts', 'test/clients/web/browser/support/file.ts'],
          // Playwright alone takes half a second to load: once per worker, not once per file.
          isolate: false,
        },
      },
    ],
  },
});
