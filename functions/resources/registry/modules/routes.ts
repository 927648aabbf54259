import { type Answer, created, json, noContent, ok } from '#api/answer.ts';
import { badRequest, deletedMeanwhile, nameTaken, notFound, unprocessable } from '#api/errors.ts';
import { param } from '#api/finders.ts';
import { ofConsumer } from '#api/permissions/granted.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { check } from '#api/validation.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { moduleName, providerName } from '../names.ts';
import { listTags } from '../tags.ts';
import { addressOf, moduleDocument, moduleVersionDocument } from './document.ts';
import { moduleByAddress as byAddress, common, consumersOf, moduleById, readableByAddress } from './finder.ts';
import { readModuleChange, readNewModule } from './input.ts';
import { limitOfModules } from './limit.ts';
import { include, included, listing } from './lists.ts';
import {
  changeModule,
  countVersions,
  createModule,
  createModuleVersion,
  deleteModuleVersion,
  deprecate,
  findModule,
  listModules,
  type Module,
  type ModuleVersion,
  maxModuleVersions,
  type NoCodeProvisioning,
} from './records.ts';
import { deleteModule } from './removal.ts';
import { getSettledVersion, moduleUploadUrl, published } from './uploads.ts';
import { readDeprecation, readNewVersion } from './version-input.ts';

/** Modules of the private registry (HCP API: registry modules). */

/** Finds modules by the older paths, without registry name. */
const byOldAddress: Finder<Module> = {
  ...common,
  find: async (request) => {
    const of = param(request, 'organization');
    const [name, provider] = [param(request, 'moduleName'), param(request, 'moduleProvider')];
    return findModule({ organization: of, registry: 'private', namespace: of, name, provider });
  },
};

const readableByOldAddress: Finder<Module> = { ...byOldAddress, consumers: consumersOf };
const byId: Finder<Module> = { ...moduleById, consumers: consumersOf };

/** All modules with a name, one per provider. */
interface Named {
  organization: string;
  modules: Module[];
}

const byName = (read: (request: ApiRequest) => { registry: string; namespace: string }): Finder<Named> => ({
  ...common,
  find: async (request) => {
    const { registry, namespace } = read(request);
    const name = param(request, 'moduleName');
    const modules = (await listModules(param(request, 'organization'))).filter(
      (module) => module.name === name && module.registry === registry && module.namespace === namespace,
    );
    return modules[0] && { organization: modules[0].organization, modules };
  },
});

/** Finds modules by the older paths: the organization's own modules first, then listed public ones. */
const inOldPath: Finder<Named> = {
  ...common,
  find: async (request) => {
    const name = param(request, 'moduleName');
    const all = (await listModules(param(request, 'organization'))).filter((module) => module.name === name);
    const own = all.filter(({ registry }) => registry === 'private');
    return all[0] && { organization: all[0].organization, modules: own.length ? own : all };
  },
};

const single =
  (noCode: NoCodeProvisioning) =>
  async ({ request, subject, granted }: Context<Module>): Promise<Answer> =>
    json(200, {
      data: moduleDocument(await published(subject), granted),
      // Provisioning belongs to the module's own organization.
      ...(await included(noCode, request, granted === ofConsumer ? [] : [subject])),
    });

const creating =
  (noCode: NoCodeProvisioning) =>
  async (context: Context<InOrganization>): Promise<Answer> => {
    const { request, subject, granted } = context;
    const { address, noCode: enabled } = readNewModule(request, subject.organization);
    const module = await createLimited(limitOfModules(subject.organization), () => createModule(address), deleteModule);
    if (!module) throw nameTaken();
    const complete = enabled ? await noCode.enable(module, true) : module;
    return created(moduleDocument({ module: complete, versions: [] }, granted));
  };

const updating =
  (noCode: NoCodeProvisioning) =>
  async (context: Context<Module>): Promise<Answer> => {
    const { changes, noCode: enabled } = readModuleChange(context.request, context.subject);
    let subject: Module | undefined = context.subject;
    if (Object.keys(changes).length > 0) subject = await changeModule(subject, changes);
    if (!subject) throw deletedMeanwhile('module');
    if (enabled !== undefined) subject = await noCode.enable(subject, enabled);
    return single(noCode)({ ...context, subject });
  };

const createVersion = async ({ request, subject }: Context<Module>): Promise<Answer> => {
  const { version, commitSha } = readNewVersion(request);
  const pointer = '/data/attributes/version';
  if (subject.registry === 'public') {
    throw unprocessable(pointer, 'version: versions of a public module come from the public registry');
  }
  if (subject.vcsRepo) {
    throw unprocessable(
      pointer,
      `version: versions of ${addressOf(subject)} come from tags of ${subject.vcsRepo.identifier}; push a tag there`,
    );
  }
  const limit = {
    max: maxModuleVersions,
    count: () => countVersions(subject.id),
    full: () => unprocessable(pointer, `version: ${addressOf(subject)} has ${maxModuleVersions}, the maximum`),
  };
  const make = () => createModuleVersion(subject, version, commitSha);
  const moduleVersion = await createLimited(limit, make, deleteModuleVersion);
  if (!moduleVersion) throw unprocessable(pointer, 'Version has already been taken');
  return created(moduleVersionDocument(moduleVersion, await moduleUploadUrl(moduleVersion)));
};

const foundVersion = async (module: Module, version: string): Promise<ModuleVersion> => {
  const moduleVersion = await getSettledVersion(module, version);
  if (!moduleVersion) throw notFound(`Version ${version.slice(0, 100)} of ${addressOf(module)} not found.`);
  return moduleVersion;
};

const readVersion = async ({ request, subject, granted }: Context<Module>): Promise<Answer> => {
  const number = request.query.get('module_version');
  if (!number) throw badRequest('module_version is missing.', 'module_version');
  const version = await foundVersion(subject, number);
  // Only users with permission to publish see the upload URL.
  const upload = version.status === 'pending' && granted.has('registry:write-modules');
  return ok(moduleVersionDocument(version, upload ? await moduleUploadUrl(version) : undefined));
};

const changeVersion = async ({ request, subject }: Context<Module>): Promise<Answer> => {
  const deprecation = readDeprecation(request);
  const version = await foundVersion(subject, param(request, 'moduleVersion'));
  const changed = await deprecate(version, deprecation);
  if (!changed) throw deletedMeanwhile('version');
  return ok(moduleVersionDocument(changed));
};

/** Disconnects a module from its repository (version-control/module-routes.ts). */
type Leave = (module: Module) => Promise<void>;

const end = async (leave: Leave, ...modules: Module[]): Promise<Answer> => {
  for (const module of modules) {
    await deleteModule(module);
    await leave(module);
  }
  return noContent();
};

/** Deletes the module together with its last version. */
const removingVersion =
  (leave: Leave) =>
  async ({ request, subject }: Context<Module>): Promise<Answer> => {
    await deleteModuleVersion(await foundVersion(subject, param(request, 'moduleVersion')));
    return (await countVersions(subject.id)) === 0 ? end(leave, subject) : noContent();
  };

const removals = (leave: Leave) => ({
  remove: ({ subject }: Context<Module>) => end(leave, subject),
  removeNamed: ({ subject }: Context<Named>) => end(leave, ...subject.modules),
  removeVersion: removingVersion(leave),
});

const validate = async ({ request }: Context<InOrganization>): Promise<Answer> => {
  const { query } = request;
  const [name, provider] = [query.get('name') ?? '', query.get('provider') ?? ''];
  check(moduleName, name);
  check(providerName, provider);
  return json(200, {
    data: {
      id: `${name}/${provider}`,
      type: 'registry-module-address-validations',
      attributes: { 'module-name': name, 'provider-name': provider, valid: true },
    },
  });
};

const ofOrganization = '/organizations/{organization}/registry-modules';
const named = `${ofOrganization}/{registry}/{namespace}/{moduleName}` as const;
const path = `${named}/{moduleProvider}` as const;
const old = '/registry-modules/{organization}/{moduleName}/{moduleProvider}';
const oldDelete = '/registry-modules/actions/delete/{organization}/{moduleName}';

const inPath = byName((request) => ({ registry: param(request, 'registry'), namespace: param(request, 'namespace') }));

export const moduleRoutes = (leave: Leave, noCode: NoCodeProvisioning): Route[] => {
  const { remove, removeNamed, removeVersion } = removals(leave);
  const [read, update] = [single(noCode), updating(noCode)];
  return [
    route('GET', ofOrganization, 'registry:read', organization, listing(noCode), {
      include,
      q: 'text',
      'filter[registry_name]': 'text',
      'filter[provider]': 'text',
      'filter[organization_name]': 'text',
    }),
    route('POST', ofOrganization, 'registry:write-modules', organization, creating(noCode)),
    route('GET', `${ofOrganization}/validation`, 'registry:read', organization, validate, {
      name: 'text',
      provider: 'text',
    }),
    route('GET', path, 'registry:read', readableByAddress, read, { include }),
    route('PATCH', path, 'registry:write-modules', byAddress, update),
    route('DELETE', path, 'registry:write-modules', byAddress, remove),
    route('DELETE', named, 'registry:write-modules', inPath, removeNamed),
    route('POST', `${path}/versions`, 'registry:write-modules', byAddress, createVersion),
    route('GET', `${path}/version`, 'registry:read', readableByAddress, readVersion, { module_version: 'text' }),
    route('PATCH', `${path}/{moduleVersion}`, 'registry:write-modules', byAddress, changeVersion),
    route('DELETE', `${path}/{moduleVersion}`, 'registry:write-modules', byAddress, removeVersion),
    route('GET', '/registry-modules/{module}', 'registry:read', byId, read, { include }),
    route('GET', '/registry-modules/{module}/tag-bindings', 'registry:read', moduleById, listTags),
    route(
      'GET',
      '/registry-modules/show/{organization}/{moduleName}/{moduleProvider}',
      'registry:read',
      readableByOldAddress,
      read,
      { include },
    ),
    route('PATCH', old, 'registry:write-modules', byOldAddress, update),
    route('POST', `${old}/versions`, 'registry:write-modules', byOldAddress, createVersion),
    route('POST', oldDelete, 'registry:write-modules', inOldPath, removeNamed),
    route('POST', `${oldDelete}/{moduleProvider}`, 'registry:write-modules', byOldAddress, remove),
    route(
      'POST',
      `${oldDelete}/{moduleProvider}/{moduleVersion}`,
      'registry:write-modules',
      byOldAddress,
      removeVersion,
    ),
  ];
};
