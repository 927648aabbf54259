import type { Resource } from '#api/answer.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { listNames, recordsAt } from '#platform/store/records.ts';
import { create, get, query, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createNamedRecord, findUnique, type UniqueNames } from '#platform/store/unique-names.ts';
import type { Tag } from '#resources/projects/tags.ts';
import type { VcsRepo } from '#resources/workspaces/records.ts';
import type { RegistryName } from '../names.ts';

/** Modules of an organization's registry and their versions; uploads.ts completes uploaded versions. */

export interface Module {
  id: string;
  organization: string;
  /** The organization for its own modules; for public ones, the publisher in the public registry. */
  namespace: string;
  registry: RegistryName;
  name: string;
  provider: string;
  createdAt: string;
  updatedAt: string;
  /** Repository whose tags are its versions; absent if versions are uploaded. */
  vcsRepo?: VcsRepo;
  /** Prefix of version numbers in tag names. */
  tagPrefix?: string;
  /** Folder of the repository with the module, such as `modules/vpc`; absent for its root. */
  sourceDirectory?: string;
  /** Present once its tests were enabled (functions/features/module-tests/). */
  tests?: { enabled: boolean };
  /** Present once tags were set. */
  tags?: Tag[];
  /** Present if workspaces can be made from it (functions/features/no-code/). */
  noCode?: { id: string; enabled: boolean };
}

/** No-code provisioning of modules, from a wing above this one (functions/features/no-code/). */
export interface NoCodeProvisioning {
  /** Enables or disables it; disabling creates nothing. Returns the changed module. */
  enable(module: Module, enabled: boolean): Promise<Module>;
  /** No-code documents of the modules, for `include=no-code-modules`. */
  documents(modules: Module[]): Promise<Resource[]>;
}

export type ModuleAddress = Pick<Module, 'organization' | 'namespace' | 'registry' | 'name' | 'provider'>;

export interface ModuleVersion {
  id: string;
  moduleId: string;
  version: string;
  /** `cloning`: the platform is fetching its commit. */
  status: 'pending' | 'cloning' | 'clone_failed' | 'ok' | 'reg_ingress_failed';
  /** Reason for rejecting the upload, shown to users. */
  error?: string;
  commitSha?: string;
  createdAt: string;
  updatedAt: string;
  /** Keys of the archive and its details, set once it was accepted. */
  archiveKey?: string;
  detailsKey?: string;
  deprecation?: { reason: string; link: string };
}

/** A module with its versions, newest first. */
export interface Published {
  module: Module;
  versions: ModuleVersion[];
}

/** Maximum number of modules in an organization, and of versions of a module. */
export const maxModules = 1000;
export const maxModuleVersions = 500;

const nameKey = ({ organization, name, provider, registry, namespace }: ModuleAddress): Key =>
  keys.moduleName(organization, name, [provider, registry, namespace]);

const records = recordsAt<Module>(keys.module);
export const getModule = records.read;

export const moduleNames: UniqueNames<Module> = { key: nameKey, find: getModule };

/** 2 reads. */
export const findModule = (address: ModuleAddress): Promise<Module | undefined> =>
  findUnique(nameKey(address), getModule);

const namesOf = (organization: string) => listNames(organization, 'MODNAME#');

/** Ordered by name. 1 query, and 1 read per 100. */
export const listModules = async (organization: string): Promise<Module[]> =>
  records.readAll((await namesOf(organization)).map(({ id }) => id));

export const countModules = async (organization: string): Promise<number> => (await namesOf(organization)).length;

/** Undefined when the address is taken. 2 writes. */
export const createModule = async (address: ModuleAddress): Promise<Module | undefined> => {
  const at = now();
  const module: Module = { ...address, id: newId('mod'), createdAt: at, updatedAt: at };
  return createNamedRecord(moduleNames, module, keys.module(module.id));
};

/** Makes the repository's tags its versions. @throws {Error} when the module is deleted */
export const connectModule = async (
  module: Module,
  source: Required<Pick<Module, 'vcsRepo'>> & Pick<Module, 'tagPrefix' | 'sourceDirectory'>,
): Promise<Module> => {
  const connected = await updateExisting<Module>(keys.module(module.id), { set: source });
  if (!connected) throw new Error(`module ${module.id} was deleted meanwhile`);
  return connected;
};

/** Undefined when the module is deleted. */
export const changeModule = (
  module: Module,
  changes: Partial<Pick<Module, 'tests' | 'tags'>>,
): Promise<Module | undefined> =>
  updateExisting<Module>(keys.module(module.id), { set: { ...changes, updatedAt: now() } });

/** Unordered. 1 query. */
export const listVersions = (moduleId: string): Promise<ModuleVersion[]> =>
  query<ModuleVersion>({ pk: keys.module(moduleId).pk, prefix: 'V#' });

export const countVersions = async (moduleId: string): Promise<number> => (await listVersions(moduleId)).length;

/** 1 read. */
export const getModuleVersion = (moduleId: string, version: string): Promise<ModuleVersion | undefined> =>
  get<ModuleVersion>(keys.moduleVersion(moduleId, version));

/** Undefined when the version exists. 1 write. */
export const createModuleVersion = async (
  { id: moduleId }: Module,
  version: string,
  commitSha: string | undefined,
  { id = newId('modver'), status = 'pending' }: Partial<Pick<ModuleVersion, 'id' | 'status'>> = {},
): Promise<ModuleVersion | undefined> => {
  const at = now();
  const newVersion: ModuleVersion = {
    id,
    moduleId,
    version,
    status,
    ...(commitSha === undefined ? {} : { commitSha }),
    createdAt: at,
    updatedAt: at,
  };
  return (await create({ ...keys.moduleVersion(moduleId, version), ...newVersion })) ? newVersion : undefined;
};

export const deleteModuleVersion = ({ moduleId, version }: ModuleVersion): Promise<boolean> =>
  remove(keys.moduleVersion(moduleId, version));

export const deprecate = (
  { moduleId, version, id }: ModuleVersion,
  deprecation: ModuleVersion['deprecation'] | null,
): Promise<ModuleVersion | undefined> =>
  update<ModuleVersion>(keys.moduleVersion(moduleId, version), {
    set: { updatedAt: now(), ...(deprecation ? { deprecation } : {}) },
    remove: deprecation ? [] : ['deprecation'],
    condition: 'id = :id',
    values: { ':id': id },
  });
