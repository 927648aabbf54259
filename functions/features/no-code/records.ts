import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getModule, type Module } from '#resources/registry/modules/records.ts';

/**
 * No-code modules: users create workspaces from a module of the registry without writing configuration (HCP API:
 * no-code modules).
 */

export interface VariableOption {
  id: string;
  name: string;
  /** Type in the module's declaration: `string`, `number` or `bool`. */
  type: string;
  /** Values allowed in a workspace; empty: any. */
  options: string[];
}

export interface NoCodeModule {
  id: string;
  organization: string;
  moduleId: string;
  enabled: boolean;
  /** A version, or `latest`; absent: `latest`. */
  versionPin?: string;
  options: VariableOption[];
  createdAt: string;
  updatedAt: string;
}

export type NoCodeSettings = Pick<NoCodeModule, 'enabled' | 'versionPin' | 'options'>;

/** 1 read. */
export const getNoCodeModule = (id: string): Promise<NoCodeModule | undefined> =>
  get<NoCodeModule>(keys.noCodeModule(id));

/** Stores its id in the module, so that a module has only one. Undefined when the module already has one. 2 writes. */
export const createNoCodeModule = async (
  module: Module,
  settings: NoCodeSettings,
): Promise<NoCodeModule | undefined> => {
  const at = now();
  const { organization, id: moduleId } = module;
  const noCode: NoCodeModule = {
    ...settings,
    id: newId('nocode'),
    organization,
    moduleId,
    createdAt: at,
    updatedAt: at,
  };
  // An earlier request may have claimed the module and been interrupted before creating this record.
  const stale = module.noCode && !(await getNoCodeModule(module.noCode.id)) ? module.noCode.id : '';
  const claimed = await updateExisting<Module>(keys.module(moduleId), {
    set: { noCode: { id: noCode.id, enabled: noCode.enabled } },
    condition: 'attribute_not_exists(noCode) OR noCode.id = :stale',
    values: { ':stale': stale },
  });
  if (!claimed) return undefined;
  await create({ ...keys.noCodeModule(noCode.id), ...noCode });
  return noCode;
};

/** Undefined when it was deleted. 2 writes. */
export const updateNoCodeModule = async (
  { id, moduleId }: NoCodeModule,
  change: Partial<NoCodeSettings>,
): Promise<NoCodeModule | undefined> => {
  const updated = await updateExisting<NoCodeModule>(keys.noCodeModule(id), {
    set: { ...change, updatedAt: now() },
  });
  if (updated && change.enabled !== undefined) {
    await update(keys.module(moduleId), {
      set: { 'noCode.enabled': change.enabled },
      condition: 'noCode.id = :id',
      values: { ':id': id },
    });
  }
  return updated;
};

/** Workspaces created from it stay. Can be repeated. */
export const deleteNoCodeModule = async ({ id, moduleId }: NoCodeModule): Promise<void> => {
  await remove(keys.noCodeModule(id));
  await update(keys.module(moduleId), { remove: ['noCode'], condition: 'noCode.id = :id', values: { ':id': id } });
};

/** @throws {Error} when the module was deleted */
export const moduleOf = async ({ moduleId }: NoCodeModule): Promise<Module> => {
  const module = await getModule(moduleId);
  if (!module) throw new Error(`module ${moduleId} was deleted`);
  return module;
};
