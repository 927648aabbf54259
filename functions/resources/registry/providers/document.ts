import { many, one } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { shownNamespace } from '../names.ts';
import { type GpgKey, isKnownKey } from './gpg-keys.ts';
import type { Platform, Provider, ProviderVersion } from './records.ts';
import { binaryUploadUrl, downloadUrl, problemOf, signatureUploadUrl, sumsUploadUrl } from './uploads.ts';

/** HCP API: private registry. Only users with permission to publish see upload URLs, while an upload is pending. */

const pathOf = (provider: Provider): string =>
  `/api/v2/organizations/${nameOf(provider.organization)}/registry-providers/${provider.registry}/${shownNamespace(provider)}/${provider.name}`;

export const providerDocument = (provider: Provider, versionIds: string[], granted: Granted) => ({
  id: provider.id,
  type: 'registry-providers',
  attributes: {
    name: provider.name,
    namespace: shownNamespace(provider),
    'registry-name': provider.registry,
    'created-at': provider.createdAt,
    'updated-at': provider.updatedAt,
    permissions: { 'can-delete': granted.has('registry:write-providers') },
  },
  relationships: {
    organization: one('organizations', provider.organization),
    'registry-provider-versions': many('registry-provider-versions', versionIds),
    'tag-bindings': { links: { related: `/api/v2/registry-providers/${provider.id}/tag-bindings` } },
  },
  links: { self: pathOf(provider) },
});

const linkOf = async (name: string, key: string | undefined, upload: () => Promise<string>, mayUpload: boolean) =>
  key ? { [`${name}-download`]: await downloadUrl(key) } : mayUpload ? { [`${name}-upload`]: await upload() } : {};

const keyProblem = async ({ organization }: Provider, { keyId }: ProviderVersion): Promise<string | undefined> =>
  (await isKnownKey(organization, keyId)) ? undefined : `${nameOf(organization)} has no GPG key ${keyId}; add it`;

export const providerVersionDocument = async (provider: Provider, version: ProviderVersion, granted: Granted) => {
  const write = granted.has('registry:write-providers');
  const { sums, signatureKey } = version;
  return {
    id: version.id,
    type: 'registry-provider-versions',
    attributes: {
      version: version.version,
      'key-id': version.keyId,
      protocols: version.protocols,
      'shasums-uploaded': sums !== undefined,
      'shasums-sig-uploaded': signatureKey !== undefined,
      'status-message': problemOf(version) ?? (await keyProblem(provider, version)) ?? null,
      'created-at': version.createdAt,
      'updated-at': version.updatedAt,
      permissions: { 'can-delete': write, 'can-upload-asset': write },
    },
    relationships: {
      'registry-provider': one('registry-providers', provider.id),
      platforms: many(
        'registry-provider-platforms',
        Object.values(version.platforms).map(({ id }) => id),
      ),
    },
    links: {
      self: `${pathOf(provider)}/versions/${version.version}`,
      ...(await linkOf('shasums', sums?.key, () => sumsUploadUrl(version), write)),
      ...(await linkOf('shasums-sig', signatureKey, () => signatureUploadUrl(version), write)),
    },
  };
};

export const platformDocument = async (
  provider: Provider,
  version: ProviderVersion,
  platform: Platform,
  granted: Granted,
) => {
  const write = granted.has('registry:write-providers');
  return {
    id: platform.id,
    type: 'registry-provider-platforms',
    attributes: {
      os: platform.os,
      arch: platform.arch,
      filename: platform.filename,
      shasum: platform.shasum,
      'provider-binary-uploaded': platform.key !== undefined,
      'status-message': platform.error ?? null,
      permissions: { 'can-delete': write, 'can-upload-asset': write },
    },
    relationships: { 'registry-provider-version': one('registry-provider-versions', version.id) },
    links: {
      self: `${pathOf(provider)}/versions/${version.version}/platforms/${platform.os}/${platform.arch}`,
      ...(await linkOf('provider-binary', platform.key, () => binaryUploadUrl(platform), write)),
    },
  };
};

export const gpgKeyDocument = (key: GpgKey) => ({
  id: key.id,
  type: 'gpg-keys',
  attributes: {
    'ascii-armor': key.asciiArmor,
    'key-id': key.keyId,
    namespace: nameOf(key.organization),
    source: '',
    'source-url': null,
    'trust-signature': '',
    'created-at': key.createdAt,
    'updated-at': key.createdAt,
  },
  links: { self: `/api/registry/private/v2/gpg-keys/${nameOf(key.organization)}/${key.keyId}` },
});
