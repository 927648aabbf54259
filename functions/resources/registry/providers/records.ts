import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { create, get, query, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createUnique, releaseUnique } from '#platform/store/unique-names.ts';
import type { RegistryName } from '../names.ts';
import { byVersion } from '../versions.ts';

/** Providers of an organization's registry, with their versions and platforms. */

export interface Provider {
  id: string;
  organization: string;
  namespace: string;
  registry: RegistryName;
  name: string;
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

interface Pointer extends Key {
  holder: string;
}

const nameKey = ({ organization, registry, namespace, name }: ProviderAddress): Key =>
  keys.providerName(organization, registry, namespace, name);

/** 1 read. */
export const getProvider = (id: string): Promise<Provider | undefined> => get<Provider>(keys.provider(id));

/** 2 reads. */
export const findProvider = async (address: ProviderAddress): Promise<Provider | undefined> => {
  const pointer = await get<Pointer>(nameKey(address));
  return pointer && getProvider(pointer.holder);
};

const pointersOf = (organization: string): Promise<Pointer[]> =>
  queryAll<Pointer>({ pk: keys.organization(organization).pk, prefix: 'PROVNAME#' });

export const countProviders = async (organization: string): Promise<number> => (await pointersOf(organization)).length;

/** 1 query, and 1 read per provider. */
export const listProviders = async (organization: string): Promise<Provider[]> => {
  const pointers = await pointersOf(organization);
  const providers = await Promise.all(pointers.map(({ holder }) => getProvider(holder)));
  return providers.filter((provider) => provider !== undefined);
};

/** Undefined when the address is taken. 2 writes. */
export const createProvider = async (address: ProviderAddress): Promise<Provider | undefined> => {
  const at = now();
  const provider: Provider = { ...address, id: newId('prov'), createdAt: at, updatedAt: at };
  const isTaken = async (holder: string) => (await getProvider(holder)) !== undefined;
  return createUnique(nameKey(address), provider.id, isTaken, async () => {
    await create({ ...keys.provider(provider.id), ...provider });
    return provider;
  });
};

/** Deletes its versions too. Can be repeated. */
export const deleteProvider = async (provider: Provider): Promise<void> => {
  for (const version of await listProviderVersions(provider.id)) await deleteProviderVersion(version);
  await remove(keys.provider(provider.id));
  await releaseUnique(nameKey(provider), provider.id);
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
