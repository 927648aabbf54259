import { newId } from '../store/id.ts';
import { type Key, keys } from '../store/keys.ts';
import { batchGet, create, get, queryAll, remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { claimUnique, releaseUnique } from '../store/unique-names.ts';

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
  const names = await queryAll<Key & { holder: string }>({ pk: keys.organization(organization).pk, prefix });
  const reservedKeys: ReservedTagKey[] = [];
  for (let i = 0; i < names.length; i += 100) {
    const some = names.slice(i, i + 100);
    const records = await batchGet<ReservedTagKey & Key>(some.map(({ holder }) => keys.reservedTagKey(holder)));
    // A key that a change left behind is not its record's.
    reservedKeys.push(...records.filter((one) => some.some(({ sk }) => sk === `${prefix}${one.key}`)));
  }
  return reservedKeys;
};

const claim = ({ id, organization, key }: ReservedTagKey): Promise<boolean> =>
  claimUnique(
    keys.reservedTagKeyName(organization, key),
    id,
    async (holder) => (await getReservedTagKey(holder))?.key === key,
  );

const release = ({ id, organization, key }: ReservedTagKey): Promise<boolean> =>
  releaseUnique(keys.reservedTagKeyName(organization, key), id);

/** Undefined when the key is reserved already. */
export const createReservedTagKey = async (
  organization: string,
  values: ReservedTagKeyValues,
): Promise<ReservedTagKey | undefined> => {
  const at = now();
  const reservedKey: ReservedTagKey = { ...values, id: newId('rtk'), organization, createdAt: at, updatedAt: at };
  if (!(await claim(reservedKey))) return undefined;
  await create({ ...keys.reservedTagKey(reservedKey.id), ...reservedKey });
  return reservedKey;
};

export const updateReservedTagKey = async (
  reserved: ReservedTagKey,
  change: Partial<ReservedTagKeyValues>,
): Promise<ReservedTagKey | 'key taken' | 'gone'> => {
  const next = { ...reserved, ...change };
  const renamed = next.key !== reserved.key;
  if (renamed && !(await claim(next))) return 'key taken';
  const updated = await update<ReservedTagKey>(keys.reservedTagKey(reserved.id), {
    set: { ...change, updatedAt: now() },
    condition: 'attribute_exists(pk)',
  });
  if (renamed) await release(updated ? reserved : next);
  return updated ?? 'gone';
};

/** Tags of that key stay as they are. May be repeated. */
export const deleteReservedTagKey = async (reserved: ReservedTagKey): Promise<void> => {
  await remove(keys.reservedTagKey(reserved.id));
  await release(reserved);
};
