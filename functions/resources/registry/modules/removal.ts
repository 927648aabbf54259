import { type Key, keys } from '#platform/store/keys.ts';
import { queryAll, remove } from '#platform/store/table.ts';
import { releaseName } from '#platform/store/unique-names.ts';
import { deleteConfigurationVersion } from '#resources/configurations/backing-data.ts';
import { requestCancel } from '#resources/runs/cancel.ts';
import { type Module, moduleNames } from './records.ts';

/** Name shown to users as the canceler of a deleted module's test runs. */
const removal = 'module-deleted';

/**
 * Deletes the module with its versions and the variables of its tests. Cancels running tests, so that they destroy
 * their resources. Can be repeated.
 */
export const deleteModule = async (module: Module): Promise<void> => {
  const key = keys.module(module.id);
  for (const { runId, pk, sk } of await queryAll<Key & { runId?: string }>({ pk: key.pk })) {
    if (runId) await requestCancel(runId, removal);
    if (sk !== key.sk) await remove({ pk, sk });
  }
  if (module.tests) await removeConfigurations(module.id);
  if (module.noCode) await remove(keys.noCodeModule(module.noCode.id));
  await remove(key);
  await releaseName(moduleNames, module);
};

/** Configurations of its test runs. */
const removeConfigurations = async (moduleId: string): Promise<void> => {
  const { pk } = keys.workspace(moduleId);
  for (const pointer of await queryAll<Key & { configurationVersionId: string }>({ pk, prefix: 'CV#' })) {
    await deleteConfigurationVersion(pointer);
  }
};
