import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, query } from '#platform/store/table.ts';
import type { ModuleVersion } from '#resources/registry/modules/records.ts';
import { newestStable } from '#resources/registry/versions.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { NoCodeModule } from './records.ts';

const newestOf = async ({ moduleId, versionPin }: NoCodeModule): Promise<string | undefined> => {
  if (versionPin !== undefined && versionPin !== 'latest') return versionPin;
  const versions = await query<ModuleVersion>({ pk: keys.module(moduleId).pk, prefix: 'V#' });
  return newestStable(versions.filter(({ status }) => status === 'ok'))?.version;
};

/**
 * Ids of the workspaces whose module version differs from the current one of their no-code module. Reads nothing for
 * workspaces that were not created from a module; otherwise 1 read, and 1 query per module without a pin.
 */
export const upgradable = async (workspaces: Pick<Workspace, 'id' | 'sourceModule'>[]): Promise<Set<string>> => {
  const ids = [...new Set(workspaces.flatMap(({ sourceModule }) => sourceModule?.noCodeId ?? []))];
  if (ids.length === 0) return new Set();
  const noCode = (await batchGet<NoCodeModule & Key>(ids.map(keys.noCodeModule))).filter(({ enabled }) => enabled);
  const newest = new Map(await Promise.all(noCode.map(async (module) => [module.id, await newestOf(module)] as const)));
  return new Set(
    workspaces.flatMap(({ id, sourceModule }) => {
      const version = sourceModule && newest.get(sourceModule.noCodeId);
      return version !== undefined && version !== sourceModule?.version ? [id] : [];
    }),
  );
};
