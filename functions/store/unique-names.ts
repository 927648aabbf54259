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
  const known = await get<Reservation>(key);
  if (!known) return false;
  const { holder, reservedUntil = '' } = known;
  if (holder === id) return true;
  if (reservedUntil > new Date(now).toISOString() || (await bears(holder))) return false;
  return put(reservation, {
    condition: 'holder = :holder AND (attribute_not_exists(reservedUntil) OR reservedUntil = :until)',
    values: { ':holder': holder, ':until': reservedUntil },
  });
};
