import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createNamed, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';

/** Tag keys with a meaning in the whole organization (HCP API: reserved tag keys). */
export interface ReservedTagKey {
  id: string;
  organization: string;
  key: string;
  /** Workspaces cannot give a tag of this key, which their project has, another value. */
  disableOverrides: boolean;
  createdAt: string;
  updatedAt: string;
}

export type ReservedTagKeyValues = Pick<ReservedTagKey, 'key' | 'disableOverrides'>;

/** Most an organization may have. */
export const maxReservedTagKeys = 200;

const prefix = 'RESERVEDTAG#';

export const getReservedTagKey = (id: string): Promise<ReservedTagKey | undefined> =>
  get<ReservedTagKey>(keys.reservedTagKey(id));

/** In the order of keys. 1 query when there are none. */
export const listReservedTagKeys = async (organization: string): Promise<ReservedTagKey[]> => {
  const pointers = await queryAll<Key & { holder: string }>({ pk: keys.organization(organization).pk, prefix });
  const records = await batchGet<ReservedTagKey & Key>(pointers.map(({ holder }) => keys.reservedTagKey(holder)));
  // An interrupted rename leaves its old or new key behind.
  return records.filter(({ key }) => pointers.some(({ sk }) => sk === `${prefix}${key}`));
};

const names: UniqueNames<ReservedTagKey> = {
  key: ({ organization, key }) => keys.reservedTagKeyName(organization, key),
  find: getReservedTagKey,
};

/** Undefined when the key is reserved already. */
export const createReservedTagKey = async (
  organization: string,
  values: ReservedTagKeyValues,
): Promise<ReservedTagKey | undefined> => {
  const at = now();
  const reservedKey: ReservedTagKey = { ...values, id: newId('rtk'), organization, createdAt: at, updatedAt: at };
  return createNamed(names, reservedKey, async () => {
    await create({ ...keys.reservedTagKey(reservedKey.id), ...reservedKey });
    return reservedKey;
  });
};

/** Undefined when it is gone. */
export const updateReservedTagKey = (
  reserved: ReservedTagKey,
  change: Partial<ReservedTagKeyValues>,
): Promise<ReservedTagKey | 'name taken' | undefined> =>
  rename(names, reserved, { ...reserved, ...change }, () =>
    update<ReservedTagKey>(keys.reservedTagKey(reserved.id), {
      set: { ...change, updatedAt: now() },
      condition: 'attribute_exists(pk)',
    }),
  );

/** Tags of that key stay as they are. May be repeated. */
export const deleteReservedTagKey = async (reserved: ReservedTagKey): Promise<void> => {
  await remove(keys.reservedTagKey(reserved.id));
  await releaseName(names, reserved);
};
