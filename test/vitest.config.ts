import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './support/longest-first.ts';
import { SecondTries } from './support/second-tries.ts';
import { SkippedPage } from './support/skipped-page.ts';

// Bounds, not expectations: generous, because machines are shared and slow at times.
const common = {
  testTimeout: 600_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};

/** A second try, in CI alone: other processes may be in the way. What needed it is named at the end. */
const retry = Number(process.env.STEPFORM_TEST_RETRIES ?? 0);

// The CDK, browsers and tests that are cut off leave things where temporary files go.
const temporary = mkdtempSync(join(tmpdir(), 'stepform-tests-'));
// Passable for the users that Terraform runs as.
chmodSync(temporary, 0o711);
process.env.TMPDIR = temporary;
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
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SecondTries(), new SkippedPage()],
    projects: [
      {
        extends: true,
        test: {
          ...common,
          retry,
          name: 'unit',
          isolate: false,
          runner: 'test/support/file-runner.ts',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/opa.ts', 'test/support/api-routes.ts'],
          exclude: ['test/e2e/**', 'test/attacks/**', 'test/web/browser/**', 'test/version-control/e2e/**'],
        },
      },
      {
        extends: true,
        test: {
          ...common,
          retry,
          name: 'e2e',
          isolate: false,
          runner: 'test/support/file-runner.ts',
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
          include: ['test/web/browser/**/*.test.ts'],
          globalSetup: ['test/web/browser/support/setup.ts'],
          runner: 'test/web/browser/support/runner.ts',
          setupFiles: ['test/e2e/support/file.ts', 'test/web/browser/support/file.ts'],
          // Playwright alone takes half a second to load: once for a worker, not for each of its files.
          isolate: false,
        },
      },
    ],
  },
});
