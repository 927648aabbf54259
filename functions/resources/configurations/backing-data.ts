import { putObject } from '#platform/store/bucket.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { remove, update } from '#platform/store/table.ts';
import type { ConfigurationVersion } from './records.ts';

/** Changes the status of a configuration's content: archived, soft-deleted, restored, permanently deleted. */

type Status = ConfigurationVersion['status'];

const to = (id: string, status: Status, stamp: string, from: Status[]): Promise<ConfigurationVersion | undefined> =>
  update<ConfigurationVersion>(keys.configurationVersion(id), {
    set: { status, [`statusTimestamps.${stamp}`]: new Date().toISOString() },
    condition: `#status IN (${from.map((_, i) => `:from${i}`).join(', ')})`,
    values: Object.fromEntries(from.map((status, i) => [`:from${i}`, status])),
  });

/** Each returns undefined when the version's status does not allow the change. */
export const archiveConfigurationVersion = (id: string): Promise<ConfigurationVersion | undefined> =>
  to(id, 'archived', 'archived-at', ['uploaded', 'errored', 'archived']);

/**
 * Archives a commit's version unless a run has used it since the last check. Its files are deleted with the commit's
 * archive. Undefined when the version's status does not allow the change.
 */
export const archiveUnusedVersion = (id: string): Promise<ConfigurationVersion | undefined> =>
  update<ConfigurationVersion>(keys.configurationVersion(id), {
    set: { status: 'archived', 'statusTimestamps.archived-at': new Date().toISOString() },
    remove: ['archive'],
    condition: 'status = :uploaded AND attribute_not_exists(usedBy)',
    values: { ':uploaded': 'uploaded' },
  });

/** A soft-deleted configuration cannot be downloaded or used for another run until it is restored. */
export const softDeleteConfiguration = (id: string): Promise<ConfigurationVersion | undefined> =>
  to(id, 'backing_data_soft_deleted', 'soft-delete-backing-data-at', ['uploaded']);

export const restoreConfiguration = (id: string): Promise<ConfigurationVersion | undefined> =>
  to(id, 'uploaded', 'restore-backing-data-at', ['backing_data_soft_deleted']);

/**
 * Empties the version's own objects; the bucket expires their previous versions. The files of a commit belong to all
 * workspaces that follow its repository, and are deleted when no run needs them. Can be repeated.
 */
export const purgeConfiguration = async (id: string): Promise<ConfigurationVersion | undefined> => {
  const deleted = 'backing_data_permanently_deleted';
  const purged = await to(id, deleted, 'permanently-delete-backing-data-at', ['backing_data_soft_deleted', deleted]);
  const { archive, commitArchive, uploadKey, readme } = purged ?? {};
  const own = commitArchive ? undefined : archive?.key;
  for (const key of [own, uploadKey, readme?.key]) if (key) await putObject(key, '');
  return purged;
};

/**
 * @param pointer to the version, in its workspace or other owner. 2 writes; its content expires with the bucket's
 * other objects. Can be repeated.
 */
export const deleteConfigurationVersion = async ({
  pk,
  sk,
  configurationVersionId,
}: Key & { configurationVersionId: string }): Promise<void> => {
  await remove(keys.configurationVersion(configurationVersionId));
  await remove({ pk, sk });
};
