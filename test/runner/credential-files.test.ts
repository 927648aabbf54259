import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BackedCredential, Signed } from '../../functions/identity/credential.ts';
import { Identity } from '../../functions/runner/identity/identity.ts';
import type { Job } from '../../functions/runner/protocol.ts';
import { keepTls } from '../../infra/local/tls.ts';
import { StsServer } from './sts.ts';
import { until } from './until.ts';
import { VaultServer } from './vault.ts';

/** Each provider's own form of a credential. */

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'identity-'));
  folder = join(root, 'identity');
});
afterEach(() => rmSync(root, { recursive: true }));

const make = (...credentials: Signed[]) => makeAll({ credentials, backed: [] });
const makeAll = (identity: NonNullable<Job['identity']>) =>
  Identity.make(folder, { runId: 'run-1', phase: 'plan', identity }, new AbortController().signal);
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
  'AWS’s own tools exchange the token for a session of the role, told by %s',
  async (by) => {
    const identity = await make(aws);
    const sts = await StsServer.start();
    const told =
      by === 'environment' ? identity.environment : { AWS_CONFIG_FILE: join(folder, 'tfc-aws-shared-config') };
    const before = process.env;
    process.env = { ...before };
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, told, { AWS_ENDPOINT_URL_STS: sts.url, AWS_REGION: 'eu-central-1' });
    try {
      expect(await new KMSClient({}).config.credentials()).toMatchObject({ accessKeyId: 'ASIAFROMSTS' });
    } finally {
      for (const name of Object.keys(told)) delete process.env[name];
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

it('Google’s libraries are told where the token is and whom it impersonates', async () => {
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

it('Azure’s providers take it from the environment, or from files', async () => {
  const credential: Signed = { provider: 'azure', audience: 'x', clientId: 'client', token: 'jwt-of-azure' };
  const identity = await make(credential);
  expect(identity.environment).toEqual({
    ARM_USE_OIDC: 'true',
    ARM_CLIENT_ID: 'client',
    ARM_OIDC_TOKEN: 'jwt-of-azure',
  });
  expect([content('tfc-azure-client-id'), content('tfc-azure-token')]).toEqual(['client', 'jwt-of-azure']);
});

it('a provider with a tag is told by its variable alone; others and tokens alone keep the environment', async () => {
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

it('nothing is left of it in the end', async () => {
  const identity = await make(gcp());
  await identity.end();
  expect(readdirSync(root)).toEqual([]);
  expect(identity.environment).toEqual({});
});

it('a Vault with an authority of its own is reached by that alone', async () => {
  const tls = await keepTls(join(root, 'tls'));
  const vault = await VaultServer.start(tls);
  const credential: Signed = {
    provider: 'vault',
    audience: 'x',
    address: vault.address,
    authPath: 'jwt',
    role: 'tfc',
    timeoutSeconds: 1,
    token: 'jwt-of-vault',
  };
  await expect(make(credential)).rejects.toThrow(/has not let the run in .* SELF_SIGNED_CERT_IN_CHAIN/);
  const identity = await make({ ...credential, caCertificate: readFileSync(tls.caFile, 'utf8') });
  expect(identity.environment).toMatchObject({
    VAULT_TOKEN: vault.token,
    VAULT_CACERT: join(folder, 'tfc-vault-ca-cert'),
  });
  await identity.end();
  await vault.stop();
});

it('a token of Vault is renewed for as long as the phase goes on', async () => {
  const vault = await VaultServer.start();
  vault.leaseSeconds = 1;
  const identity = await make({
    provider: 'vault',
    tag: 'A',
    audience: 'x',
    // What looks like a template is none.
    namespace: 'a%{b}',
    address: vault.address,
    authPath: 'team/jwt',
    role: 'tfc',
    timeoutSeconds: 5,
    token: 'jwt-of-vault',
  });
  expect(identity.environment).toEqual({});
  expect(identity.secrets).toEqual([vault.token]);
  const [variable] = identity.variables(['tfc_vault_dynamic_credentials'], basename);
  expect(variable?.value).toContain('"namespace":"a%%{b}"');
  await until('two renewals', () => vault.paths().filter((path) => path.endsWith('/renew-self')).length > 1);
  await identity.end();
  const seen = vault.calls.length;
  expect(vault.paths()[0]).toBe('/v1/auth/team/jwt/login');
  expect(vault.paths().at(-1)).toBe('/v1/auth/token/revoke-self');
  expect(vault.calls.length).toBe(seen);
  await vault.stop();
});

describe('what Vault makes', () => {
  let vault: VaultServer;
  beforeEach(async () => {
    vault = await VaultServer.start();
  });
  afterEach(() => vault.stop());

  const backedBy = (...backed: BackedCredential[]) => {
    const common = { provider: 'vault', audience: 'x', authPath: 'jwt', role: 'tfc', timeoutSeconds: 5 } as const;
    return makeAll({ credentials: [{ ...common, address: vault.address, token: 'jwt-of-vault' }], backed });
  };

  it('are keys of AWS, for a role or a user', async () => {
    vault.secrets['aws/sts/r'] = { access_key: 'ASIA', secret_key: 'sk', security_token: 'st' };
    vault.secrets['aws/creds/u'] = { access_key: 'AKIA', secret_key: 'of-a-user' };
    const body = { role_arn: 'arn:aws:iam::123456789012:role/run' };
    const identity = await backedBy(
      { provider: 'vault_backed_aws', path: 'aws/sts/r', body, sleepSeconds: 0 },
      { provider: 'vault_backed_aws', tag: 'U', path: 'aws/creds/u', sleepSeconds: 0 },
    );
    expect(
      vault.calls
        .slice(1)
        .map(({ method, path, token, body }) => [method, path, token, body])
        .sort(),
    ).toEqual([
      ['GET', '/v1/aws/creds/u', vault.token, {}],
      ['POST', '/v1/aws/sts/r', vault.token, body],
    ]);
    expect(content('tfc-vault-backed-aws-credentials')).toBe(
      '[default]\naws_access_key_id = ASIA\naws_secret_access_key = sk\naws_session_token = st\n',
    );
    expect(content('tfc-vault-backed-aws-credentials-U')).not.toContain('session');
    expect(identity.environment).not.toHaveProperty('AWS_ACCESS_KEY_ID');
    expect(identity.secrets.sort()).toEqual([vault.token, 'of-a-user', 'sk', 'st'].sort());
    expect(variables(identity, 'tfc_vault_backed_aws_dynamic_credentials')).toEqual([
      [
        'tfc_vault_backed_aws_dynamic_credentials',
        {
          default: { shared_credentials_file: '../identity/tfc-vault-backed-aws-credentials' },
          aliases: { U: { shared_credentials_file: '../identity/tfc-vault-backed-aws-credentials-U' } },
        },
      ],
    ]);
    await identity.end();
    expect(vault.paths().at(-1)).toBe('/v1/auth/token/revoke-self');
  });

  it('are tokens or keys of Google', async () => {
    vault.secrets['gcp/roleset/r/token'] = { token: 'ya29' };
    const token = await backedBy({
      provider: 'vault_backed_gcp',
      makes: 'access_token',
      path: 'gcp/roleset/r/token',
      sleepSeconds: 0,
    });
    expect(token.environment).toMatchObject({ GOOGLE_OAUTH_ACCESS_TOKEN: 'ya29' });
    await token.end();
    const key = JSON.stringify({ type: 'service_account', private_key: 'line\nline' });
    vault.secrets['gcp/static-account/s/key'] = { private_key_data: Buffer.from(key).toString('base64') };
    const identity = await backedBy({
      provider: 'vault_backed_gcp',
      makes: 'service_account_key',
      path: 'gcp/static-account/s/key',
      sleepSeconds: 0,
    });
    expect(content('tfc-vault-backed-google-credentials')).toBe(key);
    expect(identity.secrets).toContain('line\nline');
    await identity.end();
  });

  it('is a client of Azure', async () => {
    vault.secrets['azure/creds/r'] = { client_id: 'id', client_secret: 'of-the-client' };
    const identity = await backedBy({ provider: 'vault_backed_azure', path: 'azure/creds/r', sleepSeconds: 0 });
    expect(identity.environment).toMatchObject({ ARM_CLIENT_ID: 'id', ARM_CLIENT_SECRET: 'of-the-client' });
    await identity.end();
  });

  it('is said to be wrong when it is something else, and Vault takes its token back', async () => {
    vault.secrets['azure/creds/r'] = { something: 'else' };
    const made = backedBy({ provider: 'vault_backed_azure', path: 'azure/creds/r', sleepSeconds: 0 });
    await expect(made).rejects.toThrow('What Vault made at azure/creds/r has no client_id');
    expect(vault.paths().at(-1)).toBe('/v1/auth/token/revoke-self');
    expect(readdirSync(root)).toEqual([]);
  });
});
