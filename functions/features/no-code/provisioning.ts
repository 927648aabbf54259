import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet } from '#platform/store/table.ts';
import { getModule, type Module, type NoCodeProvisioning } from '#resources/registry/modules/records.ts';
import { noCodeDocument } from './document.ts';
import { createNoCodeModule, getNoCodeModule, type NoCodeModule, updateNoCodeModule } from './records.ts';

/** `no-code` of a module itself, as clients of before there were no-code modules set it. */

const enable = async (module: Module, enabled: boolean): Promise<Module> => {
  const current = module.noCode && (await getNoCodeModule(module.noCode.id));
  if (current) await updateNoCodeModule(current, { enabled });
  // One that was claimed, and cut off before it was there, is made now.
  else if (enabled || module.noCode) await createNoCodeModule(module, { enabled, options: [] });
  return (await getModule(module.id)) ?? module;
};

const documents = async (modules: Module[]) => {
  const ids = modules.flatMap(({ noCode }) => noCode?.id ?? []);
  const records = await batchGet<NoCodeModule & Key>(ids.map(keys.noCodeModule));
  return records.map(noCodeDocument);
};

export const noCodeProvisioning: NoCodeProvisioning = { enable, documents };
