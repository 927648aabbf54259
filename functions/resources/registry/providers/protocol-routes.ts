import { type Answer, json } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { inOrganization, param } from '#api/finders.ts';
import { nameOf } from '#api/naming.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { getGpgKey, isKnownKey } from './gpg-keys.ts';
import {
  findProvider,
  getProviderVersion,
  listProviderVersions,
  type Provider,
  type ProviderVersion,
  platformName,
} from './records.ts';
import { downloadUrl, installable, settle } from './uploads.ts';

/** Terraform's provider registry protocol. */

const inNamespace: Finder<Provider> = {
  what: 'provider',
  parameter: 'providerName',
  find: (request) => {
    const organization = param(request, 'namespace');
    const name = param(request, 'providerName');
    return findProvider({ organization, registry: 'private', namespace: organization, name });
  },
  visibleWith: 'registry:read',
  scope: inOrganization,
  // Runs of the organization install its providers.
  shared: async ({ organization }) => ({ organization }),
};

const plain = (body: unknown): Answer => json(200, body, 'application/json');

/** Versions whose signature clients can verify. 1 read per key. */
const signed = async ({ organization }: Provider, all: ProviderVersion[]): Promise<ProviderVersion[]> => {
  const ids = [...new Set(all.map(({ keyId }) => keyId))];
  const hasKey = await Promise.all(ids.map((id) => isKnownKey(organization, id)));
  return all.filter(({ keyId }) => hasKey[ids.indexOf(keyId)]);
};

/** Only versions that can be installed. */
const versions = async ({ subject }: Context<Provider>): Promise<Answer> => {
  const all = await signed(subject, await Promise.all((await listProviderVersions(subject.id)).map(settle)));
  return plain({
    id: `${nameOf(subject.namespace)}/${subject.name}`,
    versions: all.flatMap((version) => {
      const platforms = installable(version).map(({ os, arch }) => ({ os, arch }));
      return platforms.length ? [{ version: version.version, protocols: version.protocols, platforms }] : [];
    }),
    warnings: null,
  });
};

const download = async ({ request, subject }: Context<Provider>): Promise<Answer> => {
  const [os, arch] = [param(request, 'os'), param(request, 'arch')];
  const stored = await getProviderVersion(subject.id, param(request, 'providerVersion'));
  const version = stored && (await settle(stored));
  const platform = version && installable(version).find((candidate) => candidate.os === os && candidate.arch === arch);
  const [verifiable] = version ? await signed(subject, [version]) : [];
  if (!version?.sums || !version.signatureKey || !platform?.key || !verifiable) {
    throw notFound(`${subject.name} ${param(request, 'providerVersion')} for ${platformName({ os, arch })} not found.`);
  }
  const [key, binary, sums, signature] = await Promise.all([
    getGpgKey(subject.organization, version.keyId),
    downloadUrl(platform.key),
    downloadUrl(version.sums.key),
    downloadUrl(version.signatureKey),
  ]);
  return plain({
    protocols: version.protocols,
    os,
    arch,
    filename: platform.filename,
    download_url: binary,
    shasum: platform.shasum,
    shasums_url: sums,
    shasums_signature_url: signature,
    signing_keys: {
      gpg_public_keys: key
        ? [{ key_id: key.keyId, ascii_armor: key.asciiArmor, trust_signature: '', source: '', source_url: null }]
        : [],
    },
  });
};

const base = '/api/registry/v1/providers/{namespace}/{providerName}';

/** Full paths, because discovery determines the prefix. */
export const providerProtocolRoutes: Route[] = [
  route('GET', `${base}/versions`, 'registry:read', inNamespace, versions),
  route('GET', `${base}/{providerVersion}/download/{os}/{arch}`, 'registry:read', inNamespace, download),
];
