import type { Key } from './keys.ts';
import { create, get, put, remove } from './table.ts';

/** Names that only one record may bear: an item of the name says which. */

interface Holder {
  holder: string;
}

/**
 * True when the record may bear the name: nobody does, or whoever claimed it died before its record was there.
 * @param bears whether the record of that id is there and bears the name
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
