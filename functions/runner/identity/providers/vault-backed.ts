import type { BackedAws, BackedAzure, BackedGcp } from '#run/protocols/credential.ts';
import type { Settings } from '../settings.ts';
import { checkRoleArn } from './aws.ts';

/**
 * HCP Terraform: Vault-backed dynamic credentials. Vault: AWS, Google Cloud and Azure secrets engines. Each has a
 * path that issues credentials.
 */

const maxSleepSeconds = 1500;

const sleepOf = (settings: Settings): number => {
  const seconds = settings.find('SLEEP_SECONDS') ?? '0';
  if (/^\d{1,4}$/.test(seconds) && Number(seconds) <= maxSleepSeconds) return Number(seconds);
  throw settings.wrong(settings.nameOf('SLEEP_SECONDS'), seconds, `be a number of seconds up to ${maxSleepSeconds}`);
};

/** @param engine default mount path */
const commonOf = (settings: Settings, engine: string) => {
  const vault = settings.find('VAULT_CONFIG');
  return {
    common: { ...settings.tag, ...(vault ? { vault } : {}), sleepSeconds: sleepOf(settings) },
    mount: (settings.find('MOUNT_PATH') ?? engine).replace(/^\/+|\/+$/g, ''),
  };
};

const typeOf = <T extends string>(settings: Settings, types: readonly T[]): T => {
  const authType = settings.require('AUTH_TYPE', `one of ${types.join(', ')}`);
  const type = types.find((candidate) => candidate === authType);
  if (type) return type;
  throw settings.wrong(settings.nameOf('AUTH_TYPE'), authType, `be one of ${types.join(', ')}`);
};

const awsTypes = ['iam_user', 'assumed_role', 'federation_token'] as const;

export const readBackedAws = (settings: Settings): BackedAws => {
  const type = typeOf(settings, awsTypes);
  const { common, mount } = commonOf(settings, 'aws');
  const role = encodeURIComponent(settings.ofPhase('VAULT_ROLE', 'role in Vault').value);
  const backed = { provider: 'vault_backed_aws', ...common } as const;
  if (type === 'iam_user') return { ...backed, path: `${mount}/creds/${role}` };
  const body: Record<string, string> = type === 'assumed_role' ? { role_arn: checkRoleArn(settings) } : {};
  return { ...backed, path: `${mount}/sts/${role}`, body };
};

const gcpTypes = [
  'roleset/access_token',
  'roleset/service_account_key',
  'static_account/access_token',
  'static_account/service_account_key',
] as const;

export const readBackedGcp = (settings: Settings): BackedGcp => {
  const type = typeOf(settings, gcpTypes);
  const { common, mount } = commonOf(settings, 'gcp');
  const [account, makes] = type.split('/') as ['roleset' | 'static_account', BackedGcp['makes']];
  const [setting, kind, description] =
    account === 'roleset'
      ? ['VAULT_ROLESET', 'roleset', 'roleset in Vault']
      : ['VAULT_STATIC_ACCOUNT', 'static-account', 'static account in Vault'];
  const name = encodeURIComponent(settings.ofPhase(setting, description).value);
  const path = `${mount}/${kind}/${name}/${makes === 'access_token' ? 'token' : 'key'}`;
  return { provider: 'vault_backed_gcp', ...common, makes, path };
};

export const readBackedAzure = (settings: Settings): BackedAzure => {
  const { common, mount } = commonOf(settings, 'azure');
  const role = encodeURIComponent(settings.ofPhase('VAULT_ROLE', 'role in Vault').value);
  return { provider: 'vault_backed_azure', ...common, path: `${mount}/creds/${role}` };
};
