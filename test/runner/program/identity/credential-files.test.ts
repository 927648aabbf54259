import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Signed } from '#run/protocols/credential.ts';
import { Identity } from '#runner/program/identity/identity.ts';
import { StsServer } from './sts.ts';

/** Credentials in each provider's format. */

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'identity-'));
  folder = join(root, 'identity');
});
afterEach(() => rmSync(root, { recursive: true }));

const make = (...credentials: Signed[]) => {
  const identity = { credentials, backed: [] };
  return Identity.make(folder, { runId: 'run-1', phase: 'plan', identity }, new AbortController().signal);
};
const content = (name: string) => readFileSync(join(folder, name), 'utf8');
const variables = (identity: Identity, ...declared: string[]) =>
  identity
    .variables(declared, (file) => `../identity/${basename(file)}`)
    .map(({ key, value }) => [key, JSON.parse(value)]);

const gcp = (tag?: string): Signed => ({
  provider: 'gcp',
  ...(tag ? { tag } : {}),
  audience: 'x',
  serviceAccountEmail: 'run@p.iam.gserviceaccount.com',
  workloadProvider: 'projects/7/locations/global/workloadIdentityPools/pool/providers/id',
  token: 'jwt-of-gcp',
});

const aws: Signed = {
  provider: 'aws',
  audience: 'aws.workload.identity',
  roleArn: 'arn:aws:iam::123456789012:role/run',
  token: 'jwt-of-aws',
};

it.each(['environment', 'file'])(
  'AWS’s own tools exchange the token for a session of the role, configured by %s',
  async (by) => {
    const identity = await make(aws);
    const sts = await StsServer.start();
    const told =
      by === 'environment' ? identity.environment : { AWS_CONFIG_FILE: join(folder, 'tfc-aws-shared-config') };
    const before = { ...process.env };
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, told, { AWS_ENDPOINT_URL_STS: sts.url, AWS_REGION: 'eu-central-1' });
    try {
      expect(await new KMSClient({}).config.credentials()).toMatchObject({ accessKeyId: 'ASIAFROMSTS' });
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
      await sts.stop();
    }
    expect(sts.asked).toMatchObject([
      {
        Action: 'AssumeRoleWithWebIdentity',
        RoleArn: 'arn:aws:iam::123456789012:role/run',
        RoleSessionName: 'run-1-plan',
        WebIdentityToken: 'jwt-of-aws',
      },
    ]);
  },
);

it('Google’s libraries get the path of the token and the account to impersonate', async () => {
  const identity = await make(gcp());
  const path = join(folder, 'tfc-google-application-credentials');
  expect(identity.environment).toEqual({ GOOGLE_CREDENTIALS: path, GOOGLE_APPLICATION_CREDENTIALS: path });
  expect(JSON.parse(content('tfc-google-application-credentials'))).toEqual({
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/7/locations/global/workloadIdentityPools/pool/providers/id',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: { file: join(folder, 'tfc-gcp-token'), format: { type: 'text' } },
    service_account_impersonation_url:
      'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/run@p.iam.gserviceaccount.com:generateAccessToken',
  });
  expect(content('tfc-gcp-token')).toBe('jwt-of-gcp');
});

it('Azure’s providers get the token from the environment or from files', async () => {
  const credential: Signed = { provider: 'azure', audience: 'x', clientId: 'client', token: 'jwt-of-azure' };
  const identity = await make(credential);
  expect(identity.environment).toEqual({
    ARM_USE_OIDC: 'true',
    ARM_CLIENT_ID: 'client',
    ARM_OIDC_TOKEN: 'jwt-of-azure',
  });
  expect([content('tfc-azure-client-id'), content('tfc-azure-token')]).toEqual(['client', 'jwt-of-azure']);
});

it('a provider with a tag is configured by its variable only; others use the environment', async () => {
  const identity = await make(
    gcp(),
    gcp('EU'),
    { provider: 'kubernetes', audience: 'x', token: 'jwt-of-kubernetes' },
    { provider: 'token', audience: 'x', tag: 'T', token: 'jwt' },
  );
  expect(identity.environment).toEqual({
    KUBE_TOKEN: 'jwt-of-kubernetes',
    TFC_WORKLOAD_IDENTITY_TOKEN_T: 'jwt',
    TFC_WORKLOAD_IDENTITY_TOKEN_PATH_T: join(folder, 'tfc-workload-identity-token-T'),
  });
  const [google, kubernetes] = ['tfc_gcp_dynamic_credentials', 'tfc_kubernetes_dynamic_credentials'];
  expect(variables(identity, google, kubernetes, 'tfc_aws_dynamic_credentials')).toEqual([
    [
      google,
      {
        default: { credentials: '../identity/tfc-google-application-credentials' },
        aliases: { EU: { credentials: '../identity/tfc-google-application-credentials-EU' } },
      },
    ],
    [kubernetes, { default: { token_path: '../identity/tfc-kubernetes-token' }, aliases: {} }],
  ]);
  expect(variables(identity)).toEqual([]);
});

it('all credential files are removed at the end', async () => {
  const identity = await make(gcp());
  await identity.end();
  expect(readdirSync(root)).toEqual([]);
  expect(identity.environment).toEqual({});
});
