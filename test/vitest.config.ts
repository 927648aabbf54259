import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Bounds, not expectations: generous, because machines are shared and slow at times.
const common = { testTimeout: 240_000, hookTimeout: 120_000 };

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/opa.ts'],
          exclude: ['test/e2e/**', 'test/web/browser/**'],
        },
      },
      {
        extends: true,
        test: {
          ...common,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/opa.ts', 'test/e2e/support/setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...common,
          name: 'browser',
          include: ['test/web/browser/**/*.test.ts'],
          globalSetup: ['test/e2e/support/setup.ts'],
        },
      },
    ],
  },
});
