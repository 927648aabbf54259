import type { KnipConfig } from 'knip';
import { functions } from '#infra/stack/functions.ts';

/** Finds unused files, exports and dependencies. Entries beyond these are the scripts of package.json. */
export default {
  entry: [
    ...Object.values(functions).map(({ entry }) => entry),
    'functions/runner/program/main.ts',
    // Started by path (runner-pool.ts).
    'infra/local/aws/ecs/runner-process.mjs',
    'functions/clients/web/main.tsx',
    'functions/clients/docs/main.ts',
    'infra/stack/app.ts',
    // Started by path (cli/commands/platform.ts).
    'infra/deployment/main.ts',
    'infra/deployment/drain.ts',
    'infra/deployment/verify/main.ts',
    // Replacements for files of the AWS SDK (sdk.ts).
    'infra/build/sdk/*.ts',
    // Injected into every bundle (bundle.ts).
    'infra/build/stack-traces.ts',
    // Loaded by path: where the command runs (cli/stepform.mjs), and with --import (test/elsewhere/main.ts).
    'functions/clients/cli/main.ts',
    // Started by run.sh and action.yml.
    'infra/ci/{comment,summary}.mjs',
    // Read as text (runner-image.ts).
    'functions/runner/program/fetch-program.mjs',
    'test/elsewhere/localhost.mjs',
    // Bundled by path (test/infra/local/support/application.ts).
    'test/infra/local/support/{caller,records}.ts',
    'test/{support/file-runner,clients/web/browser/support/runner,mutations/run,mutations/covered,mutations/program}.ts',
    'test/clients/web/{forms,screenshots}.ts',
  ],
  // The example imports the package.
  project: ['{functions,infra,test}/**/*.{ts,tsx,mjs}', '!infra/example/**'],
  vitest: { config: 'test/vitest.config.ts' },
  ignoreDependencies: [
    // Part of another package.
    'axe-core',
  ],
  // Tests skip these when they are missing.
  ignoreBinaries: [
    'fallocate',
    'fish',
    'go',
    'mkfifo',
    'mount',
    'script',
    'setpriv',
    'ssh-keygen',
    'systemd-analyze',
    'terraform',
    'umount',
    'unshare',
  ],
  ignoreExportsUsedInFile: { interface: true, type: true },
} satisfies KnipConfig;
