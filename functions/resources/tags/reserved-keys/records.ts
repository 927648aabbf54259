import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { listNamed, listNames, recordsAt } from '#platform/store/records.ts';
import { remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createNamedRecord, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';

/** Tag keys reserved across the organization (HCP API: reserved tag keys). */
export interface ReservedTagKey {
  id: string;
  organization: string;
  key: string;
  /** Workspaces cannot override their project's tag with this key. */
  disableOverrides: boolean;
  createdAt: string;
  updatedAt: string;
}

export type ReservedTagKeyValues = Pick<ReservedTagKey, 'key' | 'disableOverrides'>;

/** Maximum number of reserved keys in an organization. */
export const maxReservedTagKeys = 200;

const records = recordsAt<ReservedTagKey>(keys.reservedTagKey);
export const getReservedTagKey = records.read;

/** Ordered by key. 1 query when there are none. */
export const listReservedTagKeys = async (organization: string): Promise<ReservedTagKey[]> =>
  listNamed(await listNames(organization, 'RESERVEDTAG#'), records.readAll, ({ key }) => key);

const names: UniqueNames<ReservedTagKey> = {
  key: ({ organization, key }) => keys.reservedTagKeyName(organization, key),
  find: getReservedTagKey,
};

/** Undefined when the key is already reserved. */
export const createReservedTagKey = async (
  organization: string,
  values: ReservedTagKeyValues,
): Promise<ReservedTagKey | undefined> => {
  const at = now();
  const reservedKey: ReservedTagKey = { ...values, id: newId('rtk'), organization, createdAt: at, updatedAt: at };
  return createNamedRecord(names, reservedKey, keys.reservedTagKey(reservedKey.id));
};

/** Undefined when it is deleted. */
export const updateReservedTagKey = (
  reserved: ReservedTagKey,
  change: Partial<ReservedTagKeyValues>,
): Promise<ReservedTagKey | 'name taken' | undefined> =>
  rename(names, reserved, { ...reserved, ...change }, () =>
    updateExisting<ReservedTagKey>(keys.reservedTagKey(reserved.id), { set: { ...change, updatedAt: now() } }),
  );

/** Existing tags with this key stay. Can be repeated. */
export const deleteReservedTagKey = async (reserved: ReservedTagKey): Promise<void> => {
  await remove(keys.reservedTagKey(reserved.id));
  await releaseName(names, reserved);
};
