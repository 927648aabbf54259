import * as v from 'valibot';
import { ApiError, unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { isNamed, nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, text } from '#api/validation.ts';
import { namespaceName, providerName, registryName } from '../names.ts';
import { tagRelationship, tagsIn } from '../tags.ts';
import { version } from '../versions.ts';
import { type ReadKey, readPublicKey } from './gpg-key.ts';
import type { Platform, Provider, ProviderAddress, ProviderVersion } from './records.ts';

/** Input of providers, versions, platforms and keys (HCP API: private registry). */

const at = '/data/attributes';

const providerFields: OtherFields = {
  shown: 'created-at permissions updated-at',
  related: 'organization registry-provider-versions',
  lacking: { 'tag-bindings': 'set the tags of a provider with PATCH' },
};
const versionFields: OtherFields = {
  shown: 'created-at permissions shasums-sig-uploaded shasums-uploaded status-message updated-at',
  related: 'platforms registry-provider',
};
const platformFields: OtherFields = {
  shown: 'permissions provider-binary-uploaded status-message',
  related: 'registry-provider-version',
};
const keyFields: OtherFields = { shown: 'created-at key-id source source-url trust-signature updated-at' };

const newProvider = {
  name: providerName,
  namespace: v.optional(namespaceName),
  'registry-name': v.optional(v.string()),
};

/** Clients match these exact messages. */
const noRegistry = (name: string | undefined): ApiError => {
  const source = { pointer: `${at}/registry-name` };
  const title = 'invalid attribute';
  const blank = { title, detail: "Registry name can't be blank", source };
  const another = { title, detail: 'Registry name is not included in the list', source };
  return new ApiError(422, name ? [another] : [blank, another]);
};

/** @throws {ApiError} 400 or 422 */
export const readNewProvider = (request: ApiRequest, organization: string): ProviderAddress => {
  const { attributes } = readData(request, newProvider, {}, providerFields);
  const { name, namespace = nameOf(organization), 'registry-name': registryInput } = attributes;
  const registry = v.safeParse(registryName, registryInput);
  if (!registry.success) throw noRegistry(registryInput);
  if (registry.output === 'private' && !isNamed(organization, namespace)) {
    throw unprocessable(
      `${at}/namespace`,
      `namespace: must be the organization of a private provider, ${nameOf(organization)}`,
    );
  }
  const owner = registry.output === 'private' ? organization : namespace;
  return { organization, name, namespace: owner, registry: registry.output };
};

/** @throws {ApiError} 400 or 422 */
export const readProviderChange = (request: ApiRequest): Partial<Pick<Provider, 'tags'>> => {
  const fields = { ...providerFields, shown: `${providerFields.shown} name namespace registry-name` };
  return tagsIn(readData(request, {}, tagRelationship, fields).relationships);
};

/** The key may be added after the version, which is listed once the key verifies its signature. */
const keyId = v.pipe(
  v.string(),
  v.regex(/^[\w-]{1,64}$/, 'must be the id of a GPG key, e.g. 32966F3FB5AC1129'),
  v.transform((id) => (/^[0-9A-Fa-f]{16}$/.test(id) ? id.toUpperCase() : id)),
);

/** Protocol of providers built with current SDKs. */
const usualProtocols: ProviderVersion['protocols'] = ['5.0'];

const newVersion = {
  version,
  'key-id': keyId,
  protocols: v.nullish(
    v.pipe(
      v.array(v.picklist(['4.0', '5.0', '6.0'])),
      v.minLength(1, 'must name at least one protocol version'),
      v.maxLength(3, 'must name each protocol version once'),
    ),
  ),
};

/** @throws {ApiError} 400 or 422 */
export const readNewProviderVersion = (
  request: ApiRequest,
): Pick<ProviderVersion, 'version' | 'keyId' | 'protocols'> => {
  const { attributes } = readData(request, newVersion, {}, versionFields);
  return {
    version: attributes.version,
    keyId: attributes['key-id'],
    protocols: attributes.protocols ?? usualProtocols,
  };
};

const system = v.pipe(v.string(), v.regex(/^[a-z0-9]{1,20}$/, 'must be a name that Go uses, e.g. linux or amd64'));

const newPlatform = {
  os: system,
  arch: system,
  filename: v.pipe(v.string(), v.regex(/^[\w][\w.+-]{0,199}$/, 'must be a file name without folders')),
  // Accepts texts that are not a SHA-256 too: they never equal the binary's checksum, so the platform is not offered.
  shasum: v.pipe(
    v.string(),
    v.regex(/^\w{1,64}$/, 'must be the SHA-256 of the binary: 64 hexadecimal digits in lower case'),
  ),
};

/** @throws {ApiError} 400 or 422 */
export const readNewPlatform = (request: ApiRequest): Pick<Platform, 'os' | 'arch' | 'filename' | 'shasum'> =>
  readData(request, newPlatform, {}, platformFields).attributes;

const newKey = { namespace: text(100), 'ascii-armor': text(64 * 1024) };

/** @throws {ApiError} 400 or 422 */
export const readNewGpgKey = (request: ApiRequest): { asciiArmor: string; keyId: string } => {
  const { attributes } = readData(request, newKey, {}, keyFields);
  const asciiArmor = attributes['ascii-armor'];
  const read: ReadKey = readPublicKey(asciiArmor);
  if (read.keyId === undefined) throw unprocessable(`${at}/ascii-armor`, `ascii-armor: ${read.error}`);
  return { asciiArmor, keyId: read.keyId };
};

/** @throws {ApiError} 400 or 422 */
export const readKeyNamespace = (request: ApiRequest): string =>
  readData(request, { namespace: newKey.namespace }, {}, { shown: `${keyFields.shown} ascii-armor` }).attributes
    .namespace;
