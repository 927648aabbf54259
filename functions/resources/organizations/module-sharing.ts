import type { Consumers } from '#api/authority.ts';
import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { get, update, updateExisting } from '#platform/store/table.ts';
import type { ModuleSharing } from './module-sharing-record.ts';
import { getOrganization, getOrganizations, type Organization } from './records.ts';

/**
 * Organizations that can use the modules of another one (Terraform Enterprise API: admin organizations, module sharing).
 * The producer's record decides. Its consumers have pointers back, which are hints for lists: they are written before
 * the record and removed after it.
 */
/** Maximum number of organizations in one list. */
export const maxConsumers = 200;

const none: Consumers = new Set();

const consumersIn = ({ globalModuleSharing, moduleConsumers }: ModuleSharing): Consumers =>
  globalModuleSharing ? 'every organization' : (moduleConsumers ?? none);

/** 1 read. */
export const moduleConsumersOf = async (organization: string): Promise<Consumers> =>
  consumersIn((await getOrganization(organization)) ?? {});

const sharesWith = (producer: ModuleSharing, consumer: string): boolean => {
  const consumers = consumersIn(producer);
  return consumers === 'every organization' || consumers.has(consumer);
};

/** Organizations among these keys that share their modules with the consumer. 1 read per 100; none without names. */
export const producersAmong = async (names: string[], consumer: Pick<Organization, 'name'>): Promise<Organization[]> =>
  (await getOrganizations(names.filter((name) => name !== consumer.name))).filter((producer) =>
    sharesWith(producer, consumer.name),
  );

/** All that share their modules with the consumer. 1 read, and 1 per 100. */
export const producersFor = async (consumer: Organization): Promise<Organization[]> => {
  const everywhere = await get<{ names?: Set<string> }>(keys.globalModuleProducers);
  return producersAmong([...new Set([...(everywhere?.names ?? []), ...(consumer.moduleProducers ?? [])])], consumer);
};

const point = (consumer: string, producer: string) =>
  updateRecord(keys.organization(consumer), { add: { moduleProducers: new Set([producer]) } });

const unpoint = (consumer: string, producer: string) =>
  updateExisting(keys.organization(consumer), { delete: { moduleProducers: new Set([producer]) } });

const listGlobally = (name: string, isListed: boolean) =>
  update(keys.globalModuleProducers, { [isListed ? 'add' : 'delete']: { names: new Set([name]) } });

/**
 * Shares the modules with these organizations, or with every one, and with no other. Undefined when the producer is
 * deleted. 1 write, and 1 per organization that is added or removed; can be repeated.
 */
export const shareModules = async (producer: Organization, consumers: Consumers): Promise<Organization | undefined> => {
  const { name, globalModuleSharing = false, moduleConsumers: before = [] } = producer;
  const isGlobal = consumers === 'every organization';
  const after = new Set(isGlobal ? [] : consumers);
  if (isGlobal) await listGlobally(name, true);
  await inBatches([...after], (consumer) => point(consumer, name));
  const updated = await updateRecord<Organization>(keys.organization(name), {
    set: { globalModuleSharing: isGlobal, ...(after.size ? { moduleConsumers: after } : {}) },
    remove: after.size ? [] : ['moduleConsumers'],
  });
  if (!isGlobal && globalModuleSharing) await listGlobally(name, false);
  await inBatches(
    [...before].filter((consumer) => !after.has(consumer)),
    (consumer) => unpoint(consumer, name),
  );
  return updated;
};

/** Removes a deleted organization from the records of others. Can be repeated. */
export const endModuleSharing = async (
  name: string,
  { globalModuleSharing, moduleConsumers, moduleProducers }: ModuleSharing,
): Promise<void> => {
  if (globalModuleSharing) await listGlobally(name, false);
  await inBatches([...(moduleConsumers ?? [])], (consumer) => unpoint(consumer, name));
  await inBatches([...(moduleProducers ?? [])], (producer) =>
    updateExisting(keys.organization(producer), { delete: { moduleConsumers: new Set([name]) } }),
  );
};
