import type { Key } from './keys.ts';
import { create, get, put, remove } from './table.ts';

/** Unique names: an item for each name points to the record that has it. */

interface Holder {
  holder: string;
}

/**
 * True when the record may have the name: it is free, or its claimant stopped before creating its record.
 * @param bears whether the record of that id exists and has the name
 */
export const claimUnique = async (
  key: Key,
  id: string,
  bears: (holder: string) => Promise<boolean>,
): Promise<boolean> => {
  if (await create({ ...key, holder: id })) return true;
  const holder = await get<Holder>(key);
  if (!holder) return false;
  if (holder.holder === id) return true;
  if (await bears(holder.holder)) return false;
  return put({ ...key, holder: id }, { condition: 'holder = :holder', values: { ':holder': holder.holder } });
};

/** Only of the record that holds it. */
export const releaseUnique = (key: Key, id: string): Promise<boolean> =>
  remove(key, { condition: 'holder = :id', values: { ':id': id } });

/**
 * Unique names of one kind of record.
 * @param keyOf the key of the record's name
 * @param find the record of that id; undefined when there is none
 */
export const uniqueNames = <R extends { id: string }>(
  keyOf: (record: R) => Key,
  find: (id: string) => Promise<R | undefined>,
) => {
  const haveSameName = (a: R, b: R): boolean => keyOf(a).pk === keyOf(b).pk && keyOf(a).sk === keyOf(b).sk;
  const claim = (record: R): Promise<boolean> =>
    claimUnique(keyOf(record), record.id, async (id) => {
      const holder = await find(id);
      return holder !== undefined && haveSameName(holder, record);
    });
  const release = (record: R): Promise<boolean> => releaseUnique(keyOf(record), record.id);

  /**
   * Writes a change of a record, with its name if that changes: 2 writes more.
   * @param write undefined when nothing was written; the name stays as it was then
   */
  const rename = async <T>(
    record: R,
    changed: R,
    write: () => Promise<T | undefined>,
  ): Promise<T | 'name taken' | undefined> => {
    const isRenamed = !haveSameName(record, changed);
    if (isRenamed && !(await claim(changed))) return 'name taken';
    const written = await write();
    if (isRenamed) await release(written === undefined ? changed : record);
    return written;
  };

  return { claim, release, rename };
};

interface Reservation extends Holder {
  reservedUntil?: string;
}

/**
 * Like {@link claimUnique}, for names that several may claim at once: a claim is valid for that long before others
 * may check whether its record exists.
 */
export const reserveUnique = async (
  key: Key,
  id: string,
  bears: (holder: string) => Promise<boolean>,
  ms: number,
): Promise<boolean> => {
  const now = Date.now();
  const reservation = { ...key, holder: id, reservedUntil: new Date(now + ms).toISOString() };
  if (await create(reservation)) return true;
  const current = await get<Reservation>(key);
  if (!current) return false;
  const { holder, reservedUntil = '' } = current;
  if (holder === id) return true;
  if (reservedUntil > new Date(now).toISOString() || (await bears(holder))) return false;
  return put(reservation, {
    condition: 'holder = :holder AND (attribute_not_exists(reservedUntil) OR reservedUntil = :until)',
    values: { ':holder': holder, ':until': reservedUntil },
  });
};
