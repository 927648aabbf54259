import { setTimeout as sleep } from 'node:timers/promises';
import type { BackedAws, BackedAzure, BackedCredential, BackedGcp } from '#run/protocols/credential.ts';
import { PhaseError } from '../errors.ts';
import type { CredentialFolder, IssuedCredential, OpenVault } from './issued-credentials.ts';

/** Cloud credentials that Vault issues. Vault revokes all of them together with its own token. */

type Data = Record<string, string>;

const required = ({ path }: BackedCredential, data: Data, name: string): string => {
  const value = data[name];
  if (typeof value === 'string' && value) return value;
  throw new PhaseError(
    `The credentials that Vault issued at ${path} have no ${name}. Check TFC_VAULT_BACKED_…_AUTH_TYPE against the role in Vault.`,
  );
};

const ofAws = (backed: BackedAws, data: Data, keep: CredentialFolder): IssuedCredential => {
  const id = required(backed, data, 'access_key');
  const secret = required(backed, data, 'secret_key');
  // IAM users have no session token. Older versions of Vault call it `security_token`.
  const session = data.session_token || data.security_token || undefined;
  const lines = [
    '[default]',
    `aws_access_key_id = ${id}`,
    `aws_secret_access_key = ${secret}`,
    ...(session ? [`aws_session_token = ${session}`] : []),
  ];
  return {
    environment: {
      AWS_ACCESS_KEY_ID: id,
      AWS_SECRET_ACCESS_KEY: secret,
      ...(session ? { AWS_SESSION_TOKEN: session } : {}),
    },
    entry: {
      shared_credentials_file: { file: keep.write('tfc-vault-backed-aws-credentials', `${lines.join('\n')}\n`) },
    },
    secrets: [secret, ...(session ? [session] : [])],
  };
};

const ofGcp = (backed: BackedGcp, data: Data, keep: CredentialFolder): IssuedCredential => {
  if (backed.makes === 'access_token') {
    const token = required(backed, data, 'token');
    return {
      environment: { GOOGLE_OAUTH_ACCESS_TOKEN: token },
      entry: { credentials: null, access_token: token },
      secrets: [token],
    };
  }
  const key = Buffer.from(required(backed, data, 'private_key_data'), 'base64').toString('utf8');
  const file = keep.write('tfc-vault-backed-google-credentials', key);
  return {
    environment: { GOOGLE_CREDENTIALS: file, GOOGLE_APPLICATION_CREDENTIALS: file },
    entry: { credentials: { file }, access_token: null },
    secrets: [data.private_key_data as string, privateKeyIn(key)].filter((secret) => secret !== undefined),
  };
};

const privateKeyIn = (key: string): string | undefined => {
  try {
    return (JSON.parse(key) as { private_key?: string }).private_key;
  } catch {
    return undefined;
  }
};

const ofAzure = (backed: BackedAzure, data: Data, keep: CredentialFolder): IssuedCredential => {
  const id = required(backed, data, 'client_id');
  const secret = required(backed, data, 'client_secret');
  return {
    environment: { ARM_CLIENT_ID: id, ARM_CLIENT_SECRET: secret },
    entry: {
      client_id_file_path: { file: keep.write('tfc-vault-backed-azure-client-id', id) },
      client_secret_file_path: { file: keep.write('tfc-vault-backed-azure-client-secret', secret) },
    },
    secrets: [secret],
  };
};

/** @throws {PhaseError} with Vault's error */
export const makeBacked = async (
  backed: BackedCredential,
  vault: OpenVault,
  keep: CredentialFolder,
  signal: AbortSignal,
): Promise<IssuedCredential> => {
  const data = await vault.ask(backed.path, backed.body);
  await sleep(backed.sleepSeconds * 1000, undefined, { signal });
  switch (backed.provider) {
    case 'vault_backed_aws':
      return ofAws(backed, data, keep);
    case 'vault_backed_gcp':
      return ofGcp(backed, data, keep);
    case 'vault_backed_azure':
      return ofAzure(backed, data, keep);
  }
};
