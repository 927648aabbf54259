import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet } from '#platform/store/table.ts';
import { getModule, type Module, type NoCodeProvisioning } from '#resources/registry/modules/records.ts';
import { noCodeDocument } from './document.ts';
import { createNoCodeModule, getNoCodeModule, type NoCodeModule, updateNoCodeModule } from './records.ts';

/** Sets a module's own `no-code` attribute, for clients older than the API for no-code modules. */

const enable = async (module: Module, enabled: boolean): Promise<Module> => {
  const current = module.noCode && (await getNoCodeModule(module.noCode.id));
  if (current) await updateNoCodeModule(current, { enabled });
  // Completes an interrupted creation.
  else if (enabled || module.noCode) await createNoCodeModule(module, { enabled, options: [] });
  return (await getModule(module.id)) ?? module;
};

const documents = async (modules: Module[]) => {
  const ids = modules.flatMap(({ noCode }) => noCode?.id ?? []);
  const records = await batchGet<NoCodeModule & Key>(ids.map(keys.noCodeModule));
  return records.map(noCodeDocument);
};

export const noCodeProvisioning: NoCodeProvisioning = { enable, documents };
