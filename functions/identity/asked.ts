import type { PhaseName } from '../run/run.ts';
import type { JobVariable } from '../runner/protocol.ts';
import type { Credential } from './credential.ts';
import { readAws } from './providers/aws.ts';
import { readAzure } from './providers/azure.ts';
import { readGcp } from './providers/gcp.ts';
import { readKubernetes } from './providers/kubernetes.ts';
import { readVault } from './providers/vault.ts';
import { MisconfiguredError, Settings } from './settings.ts';

const readers: Record<string, (settings: Settings) => Credential> = {
  AWS: readAws,
  AZURE: readAzure,
  GCP: readGcp,
  KUBERNETES: readKubernetes,
  VAULT: readVault,
};

/** Each costs a signature. */
const most = 50;
/** Tokens also go into the environment, where a value has its limits. */
const longestAudience = 1000;

const plain = /^TFC_WORKLOAD_IDENTITY_AUDIENCE(?:_(.+))?$/;
const provider = /^TFC_([A-Z]+)_PROVIDER_AUTH(?:_(.+))?$/;
/** Credentials that Vault makes for a cloud (HCP Terraform: Vault-backed dynamic credentials). */
const backed = /^TFC_\w+_BACKED_[A-Z]+_AUTH(?:_(.+))?$/;

/**
 * What the run's environment variables ask for, in the order of their names; nothing for almost every run.
 * @param variables of all categories, in rising precedence
 * @throws {MisconfiguredError} that names the variable and says what to do
 */
export const readAsked = (variables: JobVariable[], phase: PhaseName): Credential[] => {
  const environment = new Map(
    variables.filter(({ category }) => category === 'env').map(({ key, value }) => [key, value]),
  );
  const names = [...environment.keys()].filter((name) => name.startsWith('TFC_')).sort();
  const asked = names.flatMap((name) => readOne(name, environment, phase) ?? []);
  if (asked.length > most) {
    throw new MisconfiguredError(
      `The variables ask for ${asked.length} workload identity tokens, at most ${most} are made: remove some of them.`,
    );
  }
  return asked;
};

const readOne = (name: string, variables: ReadonlyMap<string, string>, phase: PhaseName): Credential | undefined => {
  const value = variables.get(name)?.trim();
  const [, tagOfPlain] = plain.exec(name) ?? [];
  if (plain.test(name) && value)
    return checked(name, { provider: 'token', ...tagged(name, tagOfPlain), audience: value });
  if (value !== 'true') return undefined;
  if (backed.test(name)) {
    throw new MisconfiguredError(
      `${name} is "true", but this platform has no Vault-backed credentials: remove it, and read them by the Vault provider (TFC_VAULT_PROVIDER_AUTH).`,
    );
  }
  const [, prefix = '', tag] = provider.exec(name) ?? [];
  if (!prefix) return undefined;
  const read = Object.hasOwn(readers, prefix) ? readers[prefix] : undefined;
  if (!read) {
    throw new MisconfiguredError(
      `${name} is "true", but this platform makes credentials for ${Object.keys(readers).join(', ')} only: remove it, or take a token from TFC_WORKLOAD_IDENTITY_AUDIENCE.`,
    );
  }
  return checked(name, read(new Settings({ variables, provider: prefix, ...tagged(name, tag), phase })));
};

/** HCP Terraform: specifying multiple configurations. */
const tagged = (name: string, tag: string | undefined): { tag?: string } => {
  if (tag === undefined) return {};
  if (/^\w+$/.test(tag) && tag !== 'TYPE') return { tag };
  throw new MisconfiguredError(
    `The name of the variable ${name} ends in a tag that cannot be: tags have letters, digits and underscores, and are not TYPE.`,
  );
};

const checked = (name: string, credential: Credential): Credential => {
  if (credential.audience.length <= longestAudience) return credential;
  throw new MisconfiguredError(
    `The audience that ${name} asks a token for has more than ${longestAudience} characters.`,
  );
};
