import type { KnipConfig } from 'knip';
import { functions } from './functions.ts';

/** Finds unused files, exports and dependencies. Entries beyond these are the scripts of package.json. */
export default {
  entry: [
    ...Object.values(functions).map(({ entry }) => entry),
    'functions/runner/main.ts',
    // In place of program.ts in the bundle, which it reads as text (bundle.ts); also loaded by path (local/await-task.mjs).
    'functions/runner/{load-program,program}.ts',
    'functions/web/main.tsx',
    'infra/app.ts',
    // In place of files of the AWS SDK (sdk.ts).
    'infra/sdk/*.ts',
    // Injected into every bundle (bundle.ts).
    'infra/stack-traces.ts',
    // Loaded by path: where the command runs (cli/stepform.mjs), and with --import (test/elsewhere/main.ts).
    'functions/cli/main.ts',
    // Read as text (runner-image.ts).
    'functions/runner/fetch-program.mjs',
    'test/elsewhere/localhost.mjs',
    // Bundled by path (test/infra/local/support/application.ts).
    'test/infra/local/support/{caller,records}.ts',
    'test/{support/file-runner,web/browser/support/runner}.ts',
    'test/web/screenshots.ts',
  ],
  project: ['{functions,infra,test}/**/*.{ts,tsx,mjs}'],
  vitest: { config: 'test/vitest.config.ts' },
  ignoreDependencies: [
    // Loaded by path, or a part of another package.
    '@20minutes/s3rver',
    '@aws-sdk/credential-provider-env',
    'axe-core',
    'dynalite',
    // Of former versions, which are built with these dependencies to be upgraded (test/e2e/upgrade.test.ts).
    '@aws-sdk/lib-dynamodb',
  ],
  // Skipped where they are missing.
  ignoreBinaries: ['fish', 'go', 'mkfifo', 'script', 'terraform'],
  ignoreExportsUsedInFile: { interface: true, type: true },
} satisfies KnipConfig;
