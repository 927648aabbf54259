import { type Answer, json, redirect } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { inOrganization, param } from '#api/finders.ts';
import { nameOf } from '#api/naming.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { getObject, presignGet } from '#platform/store/bucket.ts';
import { newestStable } from '../versions.ts';
import { addressOf } from './document.ts';
import { consumersOf } from './finder.ts';
import type { Details } from './ingest.ts';
import { findModule, type Module, type ModuleVersion } from './records.ts';
import { getSettledVersion, published } from './uploads.ts';

/** Terraform's module registry protocol. */

/** Lifetime of an archive URL in seconds; Terraform uses it at once. */
const downloadSeconds = 900;

const inNamespace: Finder<Module> = {
  what: 'module',
  parameter: 'moduleName',
  find: (request) => {
    const organization = param(request, 'namespace');
    const [name, provider] = [param(request, 'moduleName'), param(request, 'moduleProvider')];
    return findModule({ organization, registry: 'private', namespace: organization, name, provider });
  },
  visibleWith: 'registry:read',
  scope: inOrganization,
  // Runs of the organization install its modules, and runs of organizations with which it shares them.
  consumers: consumersOf,
  shared: async (module) => ({ organization: module.organization, consumers: () => consumersOf(module) }),
};

const plain = (body: unknown): Answer => json(200, body, 'application/json');

const usable = async (module: Module): Promise<ModuleVersion[]> =>
  (await published(module)).versions.filter(({ status }) => status === 'ok');

const versions = async ({ subject }: Context<Module>): Promise<Answer> => {
  const all = await usable(subject);
  return plain({
    modules: [
      {
        source: addressOf(subject),
        versions: all.map(({ version, deprecation }) => ({
          version,
          root: { providers: [], dependencies: [] },
          submodules: [],
          deprecation: deprecation ?? null,
        })),
      },
    ],
  });
};

const requestedVersion = async ({ request, subject }: Context<Module>): Promise<ModuleVersion> => {
  const number = request.params.moduleVersion;
  const version =
    number === undefined
      ? newestStable(await usable(subject))
      : await getSettledVersion(subject, param(request, 'moduleVersion'));
  if (version?.status === 'ok') return version;
  throw notFound(`Version ${number ?? ''} of ${addressOf(subject)} not found.`);
};

/** Terraform unpacks the archive and uses this folder of it (Terraform: module sources, packages with subdirectories). */
const inFolder = (url: string, folder: string): string => {
  const address = new URL(url);
  address.pathname += `//${folder}`;
  return address.href;
};

const download = async (context: Context<Module>): Promise<Answer> => {
  const { sourceDirectory } = context.subject;
  const { archiveKey = '' } = await requestedVersion(context);
  const url = await presignGet(archiveKey, downloadSeconds);
  return {
    statusCode: 204,
    headers: { 'cache-control': 'no-store', 'x-terraform-get': sourceDirectory ? inFolder(url, sourceDirectory) : url },
  };
};

const toNewest = async (context: Context<Module>): Promise<Answer> => {
  const { version } = await requestedVersion(context);
  return redirect(302, `/api/registry/v1/modules/${addressOf(context.subject)}/${version}/download`);
};

const details = async (context: Context<Module>): Promise<Answer> => {
  const { subject } = context;
  const requested = await requestedVersion(context);
  const content = requested.detailsKey && (await getObject(requested.detailsKey));
  if (!content) throw notFound(`Details of ${addressOf(subject)} ${requested.version} not found.`);
  const { root, submodules, examples } = JSON.parse(content.toString('utf8')) as Details;
  return plain({
    id: `${addressOf(subject)}/${requested.version}`,
    owner: nameOf(subject.organization),
    namespace: nameOf(subject.namespace),
    name: subject.name,
    version: requested.version,
    provider: subject.provider,
    description: '',
    source: '',
    tag: '',
    published_at: requested.createdAt,
    downloads: 0,
    verified: false,
    root,
    submodules,
    examples,
    providers: [subject.provider],
    versions: (await usable(subject)).map(({ version }) => version),
    deprecation: requested.deprecation ?? null,
  });
};

const base = '/api/registry/v1/modules/{namespace}/{moduleName}/{moduleProvider}';

/** Full paths, because discovery determines the prefix. */
export const moduleProtocolRoutes: Route[] = [
  route('GET', `${base}/versions`, 'registry:read', inNamespace, versions),
  route('GET', `${base}/download`, 'registry:read', inNamespace, toNewest),
  route('GET', base, 'registry:read', inNamespace, details),
  route('GET', `${base}/{moduleVersion}`, 'registry:read', inNamespace, details),
  route('GET', `${base}/{moduleVersion}/download`, 'registry:read', inNamespace, download),
];
