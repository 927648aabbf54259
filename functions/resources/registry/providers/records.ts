import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { listNames, recordsAt } from '#platform/store/records.ts';
import { create, get, query, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createNamedRecord, findUnique, releaseName, type UniqueNames } from '#platform/store/unique-names.ts';
import type { Tag } from '#resources/projects/tags.ts';
import type { RegistryName } from '../names.ts';
import { byVersion } from '../versions.ts';

/** Providers of an organization's registry, with their versions and platforms. */

export interface Provider {
  id: string;
  organization: string;
  namespace: string;
  registry: RegistryName;
  name: string;
  /** Present once tags were set. */
  tags?: Tag[];
  createdAt: string;
  updatedAt: string;
}

export type ProviderAddress = Pick<Provider, 'organization' | 'namespace' | 'registry' | 'name'>;

export interface Platform {
  id: string;
  os: string;
  arch: string;
  filename: string;
  /** SHA-256 of the binary's archive, hex. */
  shasum: string;
  /** Key of the binary once it was accepted. */
  key?: string;
  /** Shown to users when the upload does not match its checksum. */
  error?: string;
  /** ETag of the rejected upload, which is not checked again. */
  refused?: string;
}

export interface ProviderVersion {
  id: string;
  providerId: string;
  version: string;
  keyId: string;
  protocols: string[];
  /** By `os_arch`. */
  platforms: Record<string, Platform>;
  /** Key of SHA256SUMS once it was accepted, and its checksums by file name. */
  sums?: { key: string; byFile: Record<string, string> };
  signatureKey?: string;
  /** Shown to users when an uploaded file cannot be used. */
  error?: string;
  createdAt: string;
  updatedAt: string;
}

export const maxProviders = 500;
export const maxProviderVersions = 200;
export const maxPlatforms = 20;

const nameKey = ({ organization, registry, namespace, name }: ProviderAddress): Key =>
  keys.providerName(organization, registry, namespace, name);

const records = recordsAt<Provider>(keys.provider);
export const getProvider = records.read;

const names: UniqueNames<Provider> = { key: nameKey, find: getProvider };

/** 2 reads. */
export const findProvider = (address: ProviderAddress): Promise<Provider | undefined> =>
  findUnique(nameKey(address), getProvider);

const namesOf = (organization: string) => listNames(organization, 'PROVNAME#');

export const countProviders = async (organization: string): Promise<number> => (await namesOf(organization)).length;

/** 1 query, and 1 read per 100. */
export const listProviders = async (organization: string): Promise<Provider[]> =>
  records.readAll((await namesOf(organization)).map(({ id }) => id));

/** Undefined when the address is taken. 2 writes. */
export const createProvider = async (address: ProviderAddress): Promise<Provider | undefined> => {
  const at = now();
  const provider: Provider = { ...address, id: newId('prov'), createdAt: at, updatedAt: at };
  return createNamedRecord(names, provider, keys.provider(provider.id));
};

/** Undefined when the provider is deleted. */
export const changeProvider = (
  { id }: Provider,
  changes: Partial<Pick<Provider, 'tags'>>,
): Promise<Provider | undefined> =>
  updateExisting<Provider>(keys.provider(id), { set: { ...changes, updatedAt: now() } });

/** Deletes its versions too. Can be repeated. */
export const deleteProvider = async (provider: Provider): Promise<void> => {
  for (const version of await listProviderVersions(provider.id)) await deleteProviderVersion(version);
  await remove(keys.provider(provider.id));
  await releaseName(names, provider);
};

/** Newest first. 1 query. */
export const listProviderVersions = async (providerId: string): Promise<ProviderVersion[]> =>
  (await query<ProviderVersion>({ pk: keys.provider(providerId).pk, prefix: 'V#' })).sort(byVersion);

export const getProviderVersion = (providerId: string, version: string): Promise<ProviderVersion | undefined> =>
  get<ProviderVersion>(keys.providerVersion(providerId, version));

/** Undefined when the version exists. 1 write. */
export const createProviderVersion = async (
  providerId: string,
  values: Pick<ProviderVersion, 'version' | 'keyId' | 'protocols'>,
): Promise<ProviderVersion | undefined> => {
  const at = now();
  const newVersion: ProviderVersion = {
    ...values,
    id: newId('provver'),
    providerId,
    platforms: {},
    createdAt: at,
    updatedAt: at,
  };
  return (await create({ ...keys.providerVersion(providerId, newVersion.version), ...newVersion }))
    ? newVersion
    : undefined;
};

export const deleteProviderVersion = ({ providerId, version }: ProviderVersion): Promise<boolean> =>
  remove(keys.providerVersion(providerId, version));

/** Undefined when the version is deleted, or the condition fails. */
export const changeProviderVersion = (
  { providerId, version, id }: ProviderVersion,
  set: Record<string, unknown>,
  condition = 'attribute_exists(pk)',
  { removed = [], values = {} }: { removed?: string[]; values?: Record<string, unknown> } = {},
): Promise<ProviderVersion | undefined> =>
  update<ProviderVersion>(keys.providerVersion(providerId, version), {
    set: { ...set, updatedAt: now() },
    remove: removed,
    condition: `id = :id AND ${condition}`,
    values: { ':id': id, ...values },
  });

export const platformName = ({ os, arch }: Pick<Platform, 'os' | 'arch'>): string => `${os}_${arch}`;

/** Undefined when the platform exists, the limit is reached, or the version is deleted. 1 write. */
export const createPlatform = async (
  version: ProviderVersion,
  values: Pick<Platform, 'os' | 'arch' | 'filename' | 'shasum'>,
): Promise<Platform | undefined> => {
  const platform: Platform = { ...values, id: newId('provpltfrm') };
  const path = `platforms.${platformName(values)}`;
  const condition = `attribute_not_exists(${path}) AND size(platforms) < :most`;
  const updated = await changeProviderVersion(version, { [path]: platform }, condition, {
    values: { ':most': maxPlatforms },
  });
  return updated && platform;
};

export const deletePlatform = async (version: ProviderVersion, platform: Platform): Promise<void> => {
  await changeProviderVersion(version, {}, 'attribute_exists(pk)', {
    removed: [`platforms.${platformName(platform)}`],
  });
};
