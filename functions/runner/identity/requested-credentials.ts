import type { BackedCredential, Credential } from '#run/protocols/credential.ts';
import type { JobVariable } from '#run/protocols/runner.ts';
import type { PhaseName } from '#run/run.ts';
import { readAws } from './providers/aws.ts';
import { readAzure } from './providers/azure.ts';
import { readGcp } from './providers/gcp.ts';
import { readKubernetes } from './providers/kubernetes.ts';
import { readVault } from './providers/vault.ts';
import { readBackedAws, readBackedAzure, readBackedGcp } from './providers/vault-backed.ts';
import { MisconfiguredError, Settings } from './settings.ts';

const readers: Record<string, (settings: Settings) => Credential> = {
  AWS: readAws,
  AZURE: readAzure,
  GCP: readGcp,
  KUBERNETES: readKubernetes,
  VAULT: readVault,
};

const backedReaders: Record<string, (settings: Settings) => BackedCredential> = {
  VAULT_BACKED_AWS: readBackedAws,
  VAULT_BACKED_AZURE: readBackedAzure,
  VAULT_BACKED_GCP: readBackedGcp,
};

/** Each token requires a signature by KMS. */
const maxCredentials = 50;
/** Tokens are also environment variables, whose length is limited. */
const maxAudience = 1000;

const plain = /^TFC_WORKLOAD_IDENTITY_AUDIENCE(?:_(.+))?$/;
const provider = /^TFC_([A-Z]+)_PROVIDER_AUTH(?:_(.+))?$/;
const backed = /^TFC_(\w+_BACKED_[A-Z]+)_AUTH(?:_(.+))?$/;

export interface RequestedCredentials {
  credentials: Credential[];
  backed: BackedCredential[];
}

/**
 * The credentials that the run's environment variables request, sorted by the variables' names.
 * @param variables of all categories, in rising precedence
 * @throws {MisconfiguredError} with the variable and the remedy
 */
export const readRequestedCredentials = (variables: JobVariable[], phase: PhaseName): RequestedCredentials => {
  const environment = new Map(
    variables.filter(({ category }) => category === 'env').map(({ key, value }) => [key, value.trim()]),
  );
  const names = [...environment.keys()].filter((name) => name.startsWith('TFC_') && environment.get(name)).sort();
  const switched = names.filter((name) => environment.get(name) === 'true');
  const scope = { variables: environment, phase };
  const requested: RequestedCredentials = {
    credentials: names.flatMap((name) => readPlain(name, environment.get(name) ?? '') ?? []),
    backed: [],
  };
  for (const name of switched) {
    const credential = readOne(name, provider, readers, { ...scope, asking: 'PROVIDER_AUTH' });
    if (credential) requested.credentials.push(checked(name, credential));
    const backedCredential = readOne(name, backed, backedReaders, { ...scope, asking: 'AUTH' });
    if (backedCredential) requested.backed.push(withVault(name, backedCredential, switched));
  }
  const count = requested.credentials.length + requested.backed.length;
  if (count <= maxCredentials) return requested;
  throw new MisconfiguredError(
    `The workspace's variables request ${count} credentials; the maximum is ${maxCredentials}. Remove some of them.`,
  );
};

const readPlain = (name: string, audience: string): Credential | undefined => {
  const match = plain.exec(name);
  return match ? checked(name, { provider: 'token', ...tagged(name, match[1]), audience }) : undefined;
};

/** @returns undefined if the variable has another name */
const readOne = <C>(
  name: string,
  form: RegExp,
  readers: Record<string, (settings: Settings) => C>,
  scope: { variables: ReadonlyMap<string, string>; phase: PhaseName; asking: string },
): C | undefined => {
  const [, prefix, tag] = form.exec(name) ?? [];
  if (!prefix) return undefined;
  const read = Object.hasOwn(readers, prefix) ? readers[prefix] : undefined;
  if (read) return read(new Settings({ ...scope, provider: prefix, ...tagged(name, tag) }));
  throw new MisconfiguredError(
    `${name} is "true", but this platform issues credentials only for ${Object.keys(readers).join(', ')}. Remove it, or request a token with TFC_WORKLOAD_IDENTITY_AUDIENCE.`,
  );
};

/** HCP Terraform: specifying multiple configurations. */
const tagged = (name: string, tag: string | undefined): { tag?: string } => {
  if (tag === undefined) return {};
  if (/^\w+$/.test(tag) && tag !== 'TYPE') return { tag };
  throw new MisconfiguredError(
    `The name of the variable ${name} ends in an invalid tag. Tags consist of letters, digits and underscores, and cannot be TYPE.`,
  );
};

const checked = (name: string, credential: Credential): Credential => {
  if (credential.audience.length <= maxAudience) return credential;
  throw new MisconfiguredError(`The audience in ${name} has more than ${maxAudience} characters, the maximum.`);
};

/** A credential that Vault issues requires a login of the run to Vault. */
const withVault = (name: string, credential: BackedCredential, switched: string[]): BackedCredential => {
  const needed = `TFC_VAULT_PROVIDER_AUTH${credential.vault === undefined ? '' : `_${credential.vault}`}`;
  if (switched.includes(needed)) return credential;
  throw new MisconfiguredError(`${name} is "true", but ${needed} is not. Set it, with the other variables for Vault.`);
};
