import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepTls } from '#infra/local/host/tls.ts';
import type { BackedCredential, Signed } from '#run/protocols/credential.ts';
import type { Job } from '#run/protocols/runner.ts';
import { Identity } from '#runner/program/identity/identity.ts';
import { until } from '../until.ts';
import { VaultServer } from './vault.ts';

/** Vault tokens, and cloud credentials from Vault. */

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

it('a Vault with its own certificate authority is trusted through that authority only', async () => {
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
  await expect(make(credential)).rejects.toThrow(/rejected the login of this run .* SELF_SIGNED_CERT_IN_CHAIN/);
  const identity = await make({ ...credential, caCertificate: readFileSync(tls.caFile, 'utf8') });
  expect(identity.environment).toMatchObject({
    VAULT_TOKEN: vault.token,
    VAULT_CACERT: join(folder, 'tfc-vault-ca-cert'),
  });
  await identity.end();
  await vault.stop();
});

it('a Vault token is renewed during the phase', async () => {
  const vault = await VaultServer.start();
  vault.leaseSeconds = 1;
  const identity = await make({
    provider: 'vault',
    tag: 'A',
    audience: 'x',
    // Text that looks like a template must stay unchanged.
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

describe('credentials from Vault', () => {
  let vault: VaultServer;
  beforeEach(async () => {
    vault = await VaultServer.start();
  });
  afterEach(() => vault.stop());

  const backedBy = (...backed: BackedCredential[]) => {
    const common = { provider: 'vault', audience: 'x', authPath: 'jwt', role: 'tfc', timeoutSeconds: 5 } as const;
    return makeAll({ credentials: [{ ...common, address: vault.address, token: 'jwt-of-vault' }], backed });
  };

  it('are AWS keys, for a role or a user', async () => {
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

  it('are Google tokens or keys', async () => {
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

  it('are an Azure client', async () => {
    vault.secrets['azure/creds/r'] = { client_id: 'id', client_secret: 'of-the-client' };
    const identity = await backedBy({ provider: 'vault_backed_azure', path: 'azure/creds/r', sleepSeconds: 0 });
    expect(identity.environment).toMatchObject({ ARM_CLIENT_ID: 'id', ARM_CLIENT_SECRET: 'of-the-client' });
    await identity.end();
  });

  it('are reported when they have another format, and the Vault token is revoked', async () => {
    vault.secrets['azure/creds/r'] = { something: 'else' };
    const made = backedBy({ provider: 'vault_backed_azure', path: 'azure/creds/r', sleepSeconds: 0 });
    await expect(made).rejects.toThrow('The credentials that Vault issued at azure/creds/r have no client_id');
    expect(vault.paths().at(-1)).toBe('/v1/auth/token/revoke-self');
    expect(readdirSync(root)).toEqual([]);
  });
});
