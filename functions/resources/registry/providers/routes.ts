import { type Answer, created, ok } from '#api/answer.ts';
import { type ApiError, deletedMeanwhile, forbidden, nameTaken, unprocessable } from '#api/errors.ts';
import { inOrganization, param } from '#api/finders.ts';
import { includable } from '#api/include.ts';
import { listLimit } from '#api/list-limit.ts';
import { isNamed } from '#api/naming.ts';
import { pageOf, pageSlice, registryList } from '#api/pagination.ts';
import { type Context, type Finder, noContentAfter, type Route, route, type Subject } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { shownNamespace } from '../names.ts';
import { listTags } from '../tags.ts';
import { platformDocument, providerDocument, providerVersionDocument } from './document.ts';
import { readNewPlatform, readNewProvider, readNewProviderVersion, readProviderChange } from './input.ts';
import {
  changeProvider,
  countProviders,
  createPlatform,
  createProvider,
  createProviderVersion,
  deletePlatform,
  deleteProvider,
  deleteProviderVersion,
  findProvider,
  getProvider,
  getProviderVersion,
  listProviders,
  listProviderVersions,
  maxPlatforms,
  maxProviders,
  maxProviderVersions,
  type Platform,
  type Provider,
  type ProviderVersion,
  platformName,
} from './records.ts';
import { settle } from './uploads.ts';

/** Providers of the private registry (HCP API: private registry). */

const common = {
  what: 'registry provider',
  parameter: 'provider',
  visibleWith: 'registry:read',
  scope: inOrganization,
} as const;

const byId: Finder<Provider> = {
  ...common,
  parameter: 'provider',
  find: (request) => getProvider(param(request, 'provider')),
};

type AddressRequest = Parameters<Finder<Provider>['find']>[0];

const providerIn = async (request: AddressRequest): Promise<Provider | undefined> => {
  const registry = param(request, 'registry');
  if (registry !== 'private' && registry !== 'public') return undefined;
  const [namespace, name] = [param(request, 'namespace'), param(request, 'providerName')];
  return findProvider({ organization: param(request, 'organization'), registry, namespace, name });
};

const byAddress: Finder<Provider> = { ...common, find: providerIn };

interface InProvider extends Subject {
  provider: Provider;
  version: ProviderVersion;
}

const versionOf: Finder<InProvider> = {
  ...common,
  what: 'registry provider version',
  parameter: 'providerVersion',
  find: async (request) => {
    const provider = await providerIn(request);
    const version = provider && (await getProviderVersion(provider.id, param(request, 'providerVersion')));
    return version && provider && { organization: provider.organization, provider, version };
  },
};

interface InVersion extends InProvider {
  platform: Platform;
}

const platformOf: Finder<InVersion> = {
  ...common,
  what: 'registry provider platform',
  parameter: 'os',
  find: async (request) => {
    const version = await versionOf.find(request);
    const platform =
      version?.version.platforms[platformName({ os: param(request, 'os'), arch: param(request, 'arch') })];
    return version && platform && { ...version, platform };
  },
};

const providerIncludes = includable('registry_provider_versions');

const idsOf = (versions: ProviderVersion[]): string[] => versions.map(({ id }) => id);

const single = async ({ request, subject, granted }: Context<Provider>): Promise<Answer> => {
  const include = providerIncludes.of(request);
  const versions = await listProviderVersions(subject.id);
  const included = include.size
    ? versions.map((version) => providerVersionDocument(subject, version, granted))
    : undefined;
  return ok(providerDocument(subject, idsOf(versions), granted), included && (await Promise.all(included)));
};

const change = async (context: Context<Provider>): Promise<Answer> => {
  const subject = await changeProvider(context.subject, readProviderChange(context.request));
  if (!subject) throw deletedMeanwhile('provider');
  return single({ ...context, subject });
};

const create = async ({ request, subject, granted }: Context<InOrganization>): Promise<Answer> => {
  const address = readNewProvider(request, subject.organization);
  const { organization: home } = subject;
  const limit = listLimit(home, maxProviders, 'providers', () => countProviders(home));
  const provider = await createLimited(limit, () => createProvider(address), deleteProvider);
  if (!provider) throw nameTaken();
  return created(providerDocument(provider, [], granted));
};

const listAll = async ({ request, subject, granted }: Context<InOrganization>): Promise<Answer> => {
  const { query } = request;
  const include = providerIncludes.of(request);
  const page = pageOf(request);
  const search = (query.get('q') ?? '').toLowerCase();
  const registry = query.get('filter[registry_name]');
  const of = query.get('filter[organization_name]');
  const all = (await listProviders(subject.organization)).filter(
    (candidate) =>
      `${shownNamespace(candidate)}/${candidate.name}`.toLowerCase().includes(search) &&
      (!registry || candidate.registry === registry) &&
      (!of || isNamed(candidate.organization, of)),
  );
  const shown = await Promise.all(
    pageSlice(all, page).map(async (provider) => ({ provider, versions: await listProviderVersions(provider.id) })),
  );
  const data = shown.map(({ provider, versions }) => providerDocument(provider, idsOf(versions), granted));
  const included = include.size
    ? await Promise.all(
        shown.flatMap(({ provider, versions }) =>
          versions.map((version) => providerVersionDocument(provider, version, granted)),
        ),
      )
    : undefined;
  return registryList(request, page, all.length, data, included);
};

const onlyPrivate = ({ registry, name }: Provider): void => {
  if (registry === 'public') throw forbidden(`Versions of ${name} come from the public registry.`);
};

const createVersion = async ({ request, subject, granted }: Context<Provider>): Promise<Answer> => {
  onlyPrivate(subject);
  const values = readNewProviderVersion(request);
  const pointer = '/data/attributes/version';
  const limit = {
    max: maxProviderVersions,
    count: async () => (await listProviderVersions(subject.id)).length,
    full: () => unprocessable(pointer, `version: ${subject.name} has ${maxProviderVersions}, the maximum`),
  };
  const make = () => createProviderVersion(subject.id, values);
  const providerVersion = await createLimited(limit, make, deleteProviderVersion);
  if (!providerVersion) throw unprocessable(pointer, 'Version has already been taken');
  return created(await providerVersionDocument(subject, providerVersion, granted));
};

const listVersions = async ({ request, subject, granted }: Context<Provider>): Promise<Answer> => {
  const page = pageOf(request);
  const all = await listProviderVersions(subject.id);
  const shown = await Promise.all(pageSlice(all, page).map(settle));
  const documents = shown.map((version) => providerVersionDocument(subject, version, granted));
  return registryList(request, page, all.length, await Promise.all(documents));
};

const readVersion = async ({ subject: { provider, version }, granted }: Context<InProvider>): Promise<Answer> =>
  ok(await providerVersionDocument(provider, await settle(version), granted));

const removeVersion = noContentAfter(({ version }: InProvider) => deleteProviderVersion(version));

const refusedPlatform = async ({ providerId, version }: ProviderVersion, name: string): Promise<ApiError> => {
  const { platforms = {} } = (await getProviderVersion(providerId, version)) ?? {};
  return !platforms[name] && Object.keys(platforms).length >= maxPlatforms
    ? unprocessable('/data', `a version can have at most ${maxPlatforms} platforms`)
    : unprocessable('/data/attributes/arch', `${name} has already been taken`);
};

const addPlatform = async ({ request, subject, granted }: Context<InProvider>): Promise<Answer> => {
  const { provider, version } = subject;
  const values = readNewPlatform(request);
  const platform = await createPlatform(version, values);
  if (!platform) throw await refusedPlatform(version, platformName(values));
  return created(await platformDocument(provider, version, platform, granted));
};

const listPlatforms = async ({ request, subject, granted }: Context<InProvider>): Promise<Answer> => {
  const page = pageOf(request);
  const { provider } = subject;
  const version = await settle(subject.version);
  const all = Object.values(version.platforms);
  const documents = pageSlice(all, page).map((platform) => platformDocument(provider, version, platform, granted));
  return registryList(request, page, all.length, await Promise.all(documents));
};

const readPlatform = async ({ subject, granted }: Context<InVersion>): Promise<Answer> => {
  const version = await settle(subject.version);
  const platform = version.platforms[platformName(subject.platform)];
  if (!platform) throw deletedMeanwhile('platform');
  return ok(await platformDocument(subject.provider, version, platform, granted));
};

const removePlatform = noContentAfter(({ version, platform }: InVersion) => deletePlatform(version, platform));

const ofOrganization = '/organizations/{organization}/registry-providers';
const path = `${ofOrganization}/{registry}/{namespace}/{providerName}` as const;
const versions = `${path}/versions` as const;
const version = `${versions}/{providerVersion}` as const;
const platform = `${version}/platforms/{os}/{arch}` as const;

export const providerRoutes: Route[] = [
  route('GET', ofOrganization, 'registry:read', organization, listAll, {
    q: 'text',
    include: providerIncludes,
    'filter[registry_name]': { one: ['private', 'public'] },
    'filter[organization_name]': 'text',
  }),
  route('POST', ofOrganization, 'registry:write-providers', organization, create),
  route('GET', '/registry-providers/{provider}', 'registry:read', byId, single, { include: providerIncludes }),
  route('GET', '/registry-providers/{provider}/tag-bindings', 'registry:read', byId, listTags),
  route('GET', path, 'registry:read', byAddress, single, { include: providerIncludes }),
  route('PATCH', path, 'registry:write-providers', byAddress, change, { include: providerIncludes }),
  route('DELETE', path, 'registry:write-providers', byAddress, noContentAfter(deleteProvider)),
  route('GET', versions, 'registry:read', byAddress, listVersions),
  route('POST', versions, 'registry:write-providers', byAddress, createVersion),
  route('GET', version, 'registry:read', versionOf, readVersion),
  route('DELETE', version, 'registry:write-providers', versionOf, removeVersion),
  route('GET', `${version}/platforms`, 'registry:read', versionOf, listPlatforms),
  route('POST', `${version}/platforms`, 'registry:write-providers', versionOf, addPlatform),
  route('GET', platform, 'registry:read', platformOf, readPlatform),
  route('DELETE', platform, 'registry:write-providers', platformOf, removePlatform),
];
