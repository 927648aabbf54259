import { describe, expect, it } from 'vitest';
import type { PhaseName } from '#run/run.ts';
import { readRequestedCredentials } from '#runner/identity/requested-credentials.ts';
import { ask, askAll, aws, gcp, role, vault, workloadProvider } from './variables.ts';

it('a run without the variables requests no credentials', () => {
  expect(ask({ AWS_REGION: 'eu-west-1', TFC_AWS_RUN_ROLE_ARN: role('run'), TFC_AWS_PROVIDER_AUTH: 'false' })).toEqual(
    [],
  );
  expect(ask({ TFC_WORKLOAD_IDENTITY_AUDIENCE: '', TFC_DEFAULT_AWS_PROVIDER_AUTH: 'true' })).toEqual([]);
});

it('only environment variables request credentials', () => {
  const variable = { key: 'TFC_WORKLOAD_IDENTITY_AUDIENCE', value: 'x', hcl: false, sensitive: false };
  expect(readRequestedCredentials([{ ...variable, category: 'terraform' }], 'plan').credentials).toEqual([]);
});

describe('a plain token', () => {
  it('is issued for each audience', () => {
    expect(ask({ TFC_WORKLOAD_IDENTITY_AUDIENCE: 'one', TFC_WORKLOAD_IDENTITY_AUDIENCE_TWO: 'two' })).toEqual([
      { provider: 'token', audience: 'one' },
      { provider: 'token', tag: 'TWO', audience: 'two' },
    ]);
  });
});

describe('AWS', () => {
  it('uses the role of the run', () => {
    expect(ask(aws)).toEqual([{ provider: 'aws', roleArn: role('run'), audience: 'aws.workload.identity' }]);
  });

  it('prefers the role of the phase', () => {
    const variables = { ...aws, TFC_AWS_PLAN_ROLE_ARN: role('plan') };
    expect(ask(variables)).toMatchObject([{ roleArn: role('plan') }]);
    expect(ask(variables, 'apply')).toMatchObject([{ roleArn: role('run') }]);
  });

  it('has several configurations by tag, and defaults for all of them', () => {
    const variables = {
      ...aws,
      TFC_AWS_PROVIDER_AUTH_ALIAS1: 'true',
      TFC_AWS_PROVIDER_AUTH_ALIAS2: 'true',
      TFC_AWS_RUN_ROLE_ARN_ALIAS2: role('two'),
      TFC_DEFAULT_AWS_PLAN_ROLE_ARN: role('default'),
      TFC_DEFAULT_AWS_APPLY_ROLE_ARN: role('default'),
      TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE_ALIAS2: 'custom',
    };
    const audience = 'aws.workload.identity';
    expect(ask(variables)).toEqual([
      { provider: 'aws', roleArn: role('run'), audience },
      { provider: 'aws', tag: 'ALIAS1', roleArn: role('default'), audience },
      { provider: 'aws', tag: 'ALIAS2', roleArn: role('two'), audience: 'custom' },
    ]);
  });
});

it('GCP accepts the provider by full name or by parts', () => {
  const expected = [
    {
      provider: 'gcp',
      serviceAccountEmail: 'run@p.iam.gserviceaccount.com',
      workloadProvider,
      audience: `//iam.googleapis.com/${workloadProvider}`,
    },
  ];
  const parts = { TFC_GCP_PROJECT_NUMBER: '7', TFC_GCP_WORKLOAD_POOL_ID: 'pool', TFC_GCP_WORKLOAD_PROVIDER_ID: 'id' };
  expect(ask({ ...gcp, ...parts })).toEqual(expected);
  expect(ask({ ...gcp, TFC_GCP_PROJECT_NUMBER: '8', TFC_GCP_WORKLOAD_PROVIDER_NAME: workloadProvider })).toEqual(
    expected,
  );
});

it('Azure uses the client of the phase', () => {
  const variables = {
    TFC_AZURE_PROVIDER_AUTH: 'true',
    TFC_AZURE_PLAN_CLIENT_ID: 'reader',
    TFC_AZURE_APPLY_CLIENT_ID: 'writer',
  };
  const audience = 'api://AzureADTokenExchange';
  expect(ask(variables)).toEqual([{ provider: 'azure', clientId: 'reader', audience }]);
  expect(ask(variables, 'apply')).toEqual([{ provider: 'azure', clientId: 'writer', audience }]);
});

it('Vault credentials have an address, a role and optional settings', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
  const more = {
    TFC_VAULT_NAMESPACE: 'team',
    TFC_VAULT_AUTH_PATH: '/jwt-tfc/',
    TFC_VAULT_ENCODED_CACERT: Buffer.from(pem).toString('base64'),
    TFC_VAULT_CLIENT_TIMEOUT: '5',
  };
  const plain = {
    provider: 'vault',
    audience: 'vault.workload.identity',
    address: 'https://vault.test:8200',
    authPath: 'jwt',
    role: 'tfc',
    timeoutSeconds: 60,
  };
  expect(ask(vault)).toEqual([plain]);
  expect(ask({ ...vault, ...more })).toEqual([
    { ...plain, namespace: 'team', authPath: 'jwt-tfc', caCertificate: pem, timeoutSeconds: 5 },
  ]);
});

it('Kubernetes uses the token unchanged', () => {
  const variables = { TFC_KUBERNETES_PROVIDER_AUTH: 'true', TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE: 'cluster' };
  expect(ask(variables)).toEqual([{ provider: 'kubernetes', audience: 'cluster' }]);
});

describe('Vault issues', () => {
  const backed = (cloud: string, settings: Record<string, string>, phase: PhaseName = 'plan') =>
    askAll(
      {
        ...vault,
        [`TFC_VAULT_BACKED_${cloud}_AUTH`]: 'true',
        ...Object.fromEntries(
          Object.entries(settings).map(([name, value]) => [`TFC_VAULT_BACKED_${cloud}_${name}`, value]),
        ),
      },
      phase,
    ).backed;

  it.each([
    ['AWS', { AUTH_TYPE: 'iam_user', RUN_VAULT_ROLE: 'deploy' }, { path: 'aws/creds/deploy' }],
    [
      'AWS',
      { AUTH_TYPE: 'federation_token', PLAN_VAULT_ROLE: 'a b', APPLY_VAULT_ROLE: 'x', MOUNT_PATH: '/team/aws/' },
      { path: 'team/aws/sts/a%20b', body: {} },
    ],
    [
      'AWS',
      { AUTH_TYPE: 'assumed_role', RUN_VAULT_ROLE: 'deploy', RUN_ROLE_ARN: role('run'), SLEEP_SECONDS: '10' },
      { path: 'aws/sts/deploy', body: { role_arn: role('run') }, sleepSeconds: 10 },
    ],
    [
      'GCP',
      { AUTH_TYPE: 'roleset/access_token', RUN_VAULT_ROLESET: 'r' },
      { path: 'gcp/roleset/r/token', makes: 'access_token' },
    ],
    [
      'GCP',
      { AUTH_TYPE: 'static_account/service_account_key', RUN_VAULT_STATIC_ACCOUNT: 's' },
      { path: 'gcp/static-account/s/key', makes: 'service_account_key' },
    ],
    ['AZURE', { RUN_VAULT_ROLE: 'r' }, { path: 'azure/creds/r' }],
  ])('credentials of %s from %j', (cloud, settings, expected) => {
    const provider = `vault_backed_${cloud.toLowerCase()}`;
    expect(backed(cloud, settings as unknown as Record<string, string>)).toEqual([
      { provider, sleepSeconds: 0, ...expected },
    ]);
  });

  it('credentials for several configurations, each with its own Vault', () => {
    const variables = {
      ...vault,
      TFC_VAULT_PROVIDER_AUTH_EU: 'true',
      TFC_VAULT_ADDR_EU: 'https://eu.test',
      TFC_VAULT_RUN_ROLE_EU: 'tfc',
      TFC_DEFAULT_VAULT_BACKED_AZURE_RUN_VAULT_ROLE: 'shared',
      TFC_VAULT_BACKED_AZURE_AUTH_A: 'true',
      TFC_VAULT_BACKED_AZURE_VAULT_CONFIG_A: 'EU',
    };
    expect(askAll(variables).backed).toEqual([
      { provider: 'vault_backed_azure', tag: 'A', vault: 'EU', path: 'azure/creds/shared', sleepSeconds: 0 },
    ]);
  });
});
