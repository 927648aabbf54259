import { putObject } from '#platform/store/bucket.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { remove, update } from '#platform/store/table.ts';
import type { ConfigurationVersion } from './records.ts';

/** What becomes of a configuration's content: archived, deleted for now, restored, gone. */

type Status = ConfigurationVersion['status'];

const to = (id: string, status: Status, stamp: string, from: Status[]): Promise<ConfigurationVersion | undefined> =>
  update<ConfigurationVersion>(keys.configurationVersion(id), {
    set: { status, [`statusTimestamps.${stamp}`]: new Date().toISOString() },
    condition: `#status IN (${from.map((_, i) => `:from${i}`).join(', ')})`,
    values: Object.fromEntries(from.map((status, i) => [`:from${i}`, status])),
  });

/** Each is undefined when the version is not in a status from which that can be done. */
export const archiveConfigurationVersion = (id: string): Promise<ConfigurationVersion | undefined> =>
  to(id, 'archived', 'archived-at', ['uploaded', 'errored', 'archived']);

/** It cannot be downloaded, nor used for another run, until it is restored. */
export const softDeleteConfiguration = (id: string): Promise<ConfigurationVersion | undefined> =>
  to(id, 'backing_data_soft_deleted', 'soft-delete-backing-data-at', ['uploaded']);

export const restoreConfiguration = (id: string): Promise<ConfigurationVersion | undefined> =>
  to(id, 'uploaded', 'restore-backing-data-at', ['backing_data_soft_deleted']);

/** Empties the objects; the bucket lets go of what they held as of any old version of an object. May be repeated. */
export const purgeConfiguration = async (id: string): Promise<ConfigurationVersion | undefined> => {
  const deleted = 'backing_data_permanently_deleted';
  const purged = await to(id, deleted, 'permanently-delete-backing-data-at', ['backing_data_soft_deleted', deleted]);
  const { archive, uploadKey, readme } = purged ?? {};
  const objectKeys = purged ? [archive?.key ?? objects.configuration(id), uploadKey, readme?.key] : [];
  for (const key of objectKeys) if (key) await putObject(key, '');
  return purged;
};

/** @param pointer to it, in what it belongs to. 2 writes; its content expires with that of others. May be repeated. */
export const deleteConfigurationVersion = async ({
  pk,
  sk,
  configurationVersionId,
}: Key & { configurationVersionId: string }): Promise<void> => {
  await remove(keys.configurationVersion(configurationVersionId));
  await remove({ pk, sk });
};
