import { both } from './expressions.ts';
import { type Key, keys } from './keys.ts';
import { batchGet, type Change, get, queryAll, updateExisting } from './table.ts';

/** Records by kind. A deletion of several steps begins with `deletedAt`, which hides the record. */

interface Stored {
  id: string;
  deletedAt?: string;
}

/** @param keyOf key of the record with an id */
export const recordsAt = <R extends Stored>(keyOf: (id: string) => Key) => ({
  /** 1 read. */
  read: async (id: string): Promise<R | undefined> => {
    const record = await get<R>(keyOf(id));
    return record?.deletedAt ? undefined : record;
  },
  /** In this order, each once; missing ones are left out. 1 read per 100. */
  readAll: async (ids: Iterable<string>): Promise<R[]> =>
    (await batchGet<R & Key>([...new Set(ids)].map(keyOf))).filter(({ deletedAt }) => !deletedAt),
});

/** Changes a record; undefined if it does not exist or is being deleted, or the condition does not hold. */
export const updateRecord = <R>(key: Key, { condition, ...change }: Change): Promise<R | undefined> =>
  updateExisting<R>(key, { ...change, condition: both('attribute_not_exists(deletedAt)', condition) });

export interface Name {
  /** Of the record that has the name, or claims it. */
  id: string;
  /** As in the key. */
  name: string;
}

/** Unique names in an organization (unique-names.ts), in the order of their keys. 1 query. */
export const listNames = async (organization: string, prefix: string): Promise<Name[]> => {
  const { pk } = keys.organization(organization);
  const pointers = await queryAll<{ sk: string; holder: string }>({ pk, prefix });
  return pointers.map(({ sk, holder }) => ({ id: holder, name: sk.slice(prefix.length) }));
};

/** Records ordered by name, without the old or new name that an interrupted rename leaves. 1 query, and the records. */
export const listNamed = async <R extends Stored>(
  names: Name[],
  readAll: (ids: string[]) => Promise<R[]>,
  nameOf: (record: R) => string,
): Promise<R[]> => {
  const records = new Map((await readAll(names.map(({ id }) => id))).map((record) => [record.id, record]));
  return names.flatMap(({ id, name }) => {
    const record = records.get(id);
    return record && nameOf(record) === name ? [record] : [];
  });
};
