import { expect, it } from 'vitest';
import type { Job } from '#run/protocols/runner.ts';
import type { Settings } from '#runner/program/settings.ts';
import { readerEnvironment, terraformEnvironment } from '#runner/program/terraform/environment.ts';

const hostile = [
  ...['PATH', 'HOME', 'TMPDIR', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'GODEBUG', 'SSL_CERT_FILE', 'TF_CLI_ARGS_show'],
  ...[
    'TF_CLI_CONFIG_FILE',
    'TF_REATTACH_PROVIDERS',
    'TF_PLUGIN_CACHE_DIR',
    'TF_LOG_PATH',
    'TF_ENCRYPTION',
    'GIT_CONFIG_COUNT',
  ],
].map((key) => ({ key, value: '/evil', category: 'env', hcl: false, sensitive: false }));

it('Terraform that runs code of the workspace gets its variables, Terraform that reads plans gets none', () => {
  const job = {
    runId: 'run-1',
    workspace: { name: 'network' },
    operation: {},
    variables: hostile,
    environment: { A: 'of the run' },
  };
  const settings = {
    hosts: [],
    passOn: ['FROM_OPERATOR'],
    inherited: { PATH: '/bin', FROM_OPERATOR: '1', SECRET: 's' },
  };
  const of = [
    job as unknown as Job,
    settings as unknown as Settings,
    { home: '/h', temporary: '/t', availableBytes: 0 },
  ] as const;
  expect(Object.entries(terraformEnvironment(...of)).filter(([, value]) => value === '/evil')).toHaveLength(
    hostile.length,
  );
  expect(readerEnvironment(...of)).toEqual({
    ...{ PATH: '/bin', HOME: '/h', TMPDIR: '/t', TF_WORKSPACE: 'network' },
    ...{ TF_IN_AUTOMATION: '1', TF_INPUT: '0', CHECKPOINT_DISABLE: '1' },
  });
});
