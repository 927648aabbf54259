import type { Resource } from '../../api/answer.ts';
import { copyObject, peekObject, presignUpload } from '../../store/bucket.ts';
import { newId } from '../../store/id.ts';
import { type Key, keys, objects } from '../../store/keys.ts';
import { create, get, query, queryAll, remove, update } from '../../store/table.ts';
import { now } from '../../store/time.ts';
import { claimUnique } from '../../store/unique-names.ts';
import type { VcsRepo } from '../../workspaces/records.ts';
import { byVersion, type RegistryName } from '../names.ts';
import { ingest } from './ingest.ts';

/** Modules of an organization's registry and their versions, which are uploaded as archives. */

export interface Module {
  id: string;
  organization: string;
  /** The organization for those it publishes itself; for others, who published them in the public registry. */
  namespace: string;
  registry: RegistryName;
  name: string;
  provider: string;
  createdAt: string;
  updatedAt: string;
  /** Whose tags are its versions; absent where they are uploaded. */
  vcsRepo?: VcsRepo;
  /** Before the version in the names of tags. */
  tagPrefix?: string;
  /** There once its tests were enabled (functions/module-tests/). */
  tests?: { enabled: boolean };
  /** How workspaces are made from it, if they are (functions/no-code/). */
  noCode?: { id: string; enabled: boolean };
}

/** No-code provisioning of modules, which is above this (functions/no-code/). */
export interface NoCodeProvisioning {
  /** Switches it on or off; nothing is made of a module that never had it to switch it off. The module as it is then. */
  enable(module: Module, enabled: boolean): Promise<Module>;
  /** Documents of what the modules have of it, for `include=no-code-modules`. */
  documents(modules: Module[]): Promise<Resource[]>;
}

export type ModuleAddress = Pick<Module, 'organization' | 'namespace' | 'registry' | 'name' | 'provider'>;

export interface ModuleVersion {
  id: string;
  moduleId: string;
  version: string;
  /** `cloning`: its commit is being fetched. */
  status: 'pending' | 'cloning' | 'clone_failed' | 'ok' | 'reg_ingress_failed';
  /** For people, when nothing could be made of the upload. */
  error?: string;
  commitSha?: string;
  createdAt: string;
  updatedAt: string;
  /** Of the archive and of what is in it, once it was accepted. */
  archiveKey?: string;
  detailsKey?: string;
  deprecation?: { reason: string; link: string };
}

/** A module with its versions, the newest first. */
export interface Published {
  module: Module;
  versions: ModuleVersion[];
}

/** Most modules an organization may have, and versions a module. */
export const maxModules = 1000;
export const maxModuleVersions = 500;
const maxModuleBytes = 100 * 1024 * 1024;
/** How long an upload URL is good for, in seconds. */
const uploadSeconds = 3600;

interface Pointer extends Key {
  holder: string;
}

export const nameKey = ({ organization, name, provider, registry, namespace }: ModuleAddress): Key =>
  keys.moduleName(organization, name, [provider, registry, namespace]);

/** Clients know the URL by the words `/object/` in it. */
const uploadName = ({ id }: Pick<ModuleVersion, 'id'>): string => `object/${id}.tar.gz`;

export const moduleUploadUrl = (version: ModuleVersion): Promise<string> =>
  presignUpload(uploadName(version), uploadSeconds);

/** 1 read. */
export const getModule = (id: string): Promise<Module | undefined> => get<Module>(keys.module(id));

/** 2 reads. */
export const findModule = async (address: ModuleAddress): Promise<Module | undefined> => {
  const pointer = await get<Pointer>(nameKey(address));
  return pointer && getModule(pointer.holder);
};

/** In the order of names. 1 query, and 1 read for each. */
export const listModules = async (organization: string): Promise<Module[]> => {
  const pointers = await queryAll<Pointer>({ pk: keys.organization(organization).pk, prefix: 'MODNAME#' });
  const modules = await Promise.all(pointers.map(({ holder }) => getModule(holder)));
  return modules.filter((module) => module !== undefined);
};

export const countModules = async (organization: string): Promise<number> =>
  (await queryAll({ pk: keys.organization(organization).pk, prefix: 'MODNAME#' })).length;

/** Undefined when the address is taken. 2 writes. */
export const createModule = async (address: ModuleAddress): Promise<Module | undefined> => {
  const at = now();
  const module: Module = { ...address, id: newId('mod'), createdAt: at, updatedAt: at };
  const isTaken = async (holder: string) => (await getModule(holder)) !== undefined;
  if (!(await claimUnique(nameKey(address), module.id, isTaken))) return undefined;
  await create({ ...keys.module(module.id), ...module });
  return module;
};

/** Its versions are its repository's tags from now on. @throws {Error} when it is gone */
export const connectModule = async (module: Module, vcsRepo: VcsRepo, tagPrefix?: string): Promise<Module> => {
  const connected = await update<Module>(keys.module(module.id), {
    set: { vcsRepo, tagPrefix },
    condition: 'attribute_exists(pk)',
  });
  if (!connected) throw new Error(`module ${module.id} was deleted meanwhile`);
  return connected;
};

export const setTests = (module: Module, enabled: boolean): Promise<Module | undefined> =>
  update<Module>(keys.module(module.id), {
    set: { tests: { enabled }, updatedAt: now() },
    condition: 'attribute_exists(pk)',
  });

const storedVersions = async (moduleId: string): Promise<ModuleVersion[]> =>
  (await query<ModuleVersion>({ pk: keys.module(moduleId).pk, prefix: 'V#' })).sort(byVersion);

/** As they were written last; {@link published} looks for uploads that came since. 1 query. */
export const countVersions = async (moduleId: string): Promise<number> => (await storedVersions(moduleId)).length;

/** Undefined when there is one. 1 write. */
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

/** Its upload URL is still good, or was until a moment ago. */
const mayStillCome = ({ createdAt }: ModuleVersion): boolean =>
  Date.now() - Date.parse(createdAt) < (uploadSeconds + 60) * 1000;

const sizeFaultOf = (size: number): string | undefined => {
  if (size === 0) return 'The upload is empty. Upload a gzip-compressed tar archive.';
  return size > maxModuleBytes ? `The archive has ${size} bytes; at most ${maxModuleBytes} are allowed.` : undefined;
};

/**
 * Looks whether the upload has come, and if so takes it to a place that nobody can upload to, and reads what is in it.
 * One request to S3 while pending, none after. Whoever does it at the same time does it with the same result.
 */
const settle = async (address: Module, version: ModuleVersion): Promise<ModuleVersion> => {
  if (version.status !== 'pending' || !mayStillCome(version)) return version;
  const from = objects.upload(uploadName(version));
  const upload = await peekObject(from, 2);
  if (!upload) return version;
  const digest = upload.etag.replaceAll(/\W/g, '');
  const archiveKey = objects.moduleArchive(version.id, digest);
  const sizeFault = sizeFaultOf(upload.size);
  if (!sizeFault && (await copyObject(from, archiveKey, upload.etag)) === undefined) return version;
  const { detailsKey, error } = sizeFault
    ? { error: sizeFault }
    : await ingest(archiveKey, { name: address.name, id: version.id, digest });
  const settled = await update<ModuleVersion>(keys.moduleVersion(version.moduleId, version.version), {
    set: error ? { status: 'reg_ingress_failed', error } : { status: 'ok', archiveKey, detailsKey },
    condition: '#status = :pending AND id = :id',
    values: { ':pending': 'pending', ':id': version.id },
  });
  return settled ?? (await get<ModuleVersion>(keys.moduleVersion(version.moduleId, version.version))) ?? version;
};

/** What was fetched of the version's commit, or why it could not be. False while the version is not there. May be repeated. */
export const settleCommitOfModule = async (
  { moduleId, version }: Pick<ModuleVersion, 'moduleId' | 'version'>,
  fetched: { key: string; sha256?: string } | { failure: string },
): Promise<boolean> => {
  const module = await getModule(moduleId);
  const current = module && (await get<ModuleVersion>(keys.moduleVersion(moduleId, version)));
  if (!current) return module === undefined;
  if (current.status !== 'cloning') return true;
  let outcome: Partial<ModuleVersion>;
  if ('failure' in fetched) outcome = { status: 'clone_failed', error: fetched.failure };
  else {
    const digest = fetched.sha256 ?? 'commit';
    const archiveKey = objects.moduleArchive(current.id, digest);
    const copied = await copyObject(fetched.key, archiveKey);
    const { detailsKey, error } =
      copied === undefined
        ? { error: 'The commit’s archive was deleted.' }
        : await ingest(archiveKey, { name: module.name, id: current.id, digest });
    outcome = error ? { status: 'reg_ingress_failed', error } : { status: 'ok', archiveKey, detailsKey };
  }
  await update<ModuleVersion>(keys.moduleVersion(moduleId, version), {
    set: { ...outcome, updatedAt: now() },
    condition: '#status = :cloning AND id = :id',
    values: { ':cloning': 'cloning', ':id': current.id },
  });
  return true;
};

/** 1 query, and a look at S3 for each version whose upload is awaited. */
export const published = async (module: Module): Promise<Published> => {
  const versions = await storedVersions(module.id);
  return { module, versions: await Promise.all(versions.map((version) => settle(module, version))) };
};

export const getModuleVersion = async (module: Module, version: string): Promise<ModuleVersion | undefined> => {
  const stored = await get<ModuleVersion>(keys.moduleVersion(module.id, version));
  return stored && settle(module, stored);
};
