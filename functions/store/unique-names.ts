import type { Key } from './keys.ts';
import { create as createItem, get, put, remove } from './table.ts';

/** Unique names: an item for each name points to the record that has it. */

/**
 * So long a name is its claimant's alone, who writes the record meanwhile: the functions of the API are stopped after 29 s.
 */
const claimMs = 30_000;

interface Options {
  /** How long nobody asks whether the record exists. */
  ms?: number;
  /** The attribute that has the record's id. */
  attribute?: string;
  /** What else the item has. */
  others?: Record<string, unknown>;
}

/**
 * True when the record may have the name: it is free, or its claimant stopped before writing its record.
 * @param bears whether the record of that id exists and has the name
 */
export const claimUnique = async (
  key: Key,
  id: string,
  bears: (holder: string) => Promise<boolean>,
  { ms = claimMs, attribute = 'holder', others = {} }: Options = {},
): Promise<boolean> => {
  const now = Date.now();
  const claim = { ...key, ...others, [attribute]: id, reservedUntil: new Date(now + ms).toISOString() };
  if (await createItem(claim)) return true;
  const current = await get<Record<string, string>>(key);
  const { [attribute]: holder, reservedUntil = '' } = current ?? {};
  if (holder === undefined) return false;
  if (holder !== id && (reservedUntil > new Date(now).toISOString() || (await bears(holder)))) return false;
  return put(claim, {
    condition: `${attribute} = :holder AND (attribute_not_exists(reservedUntil) OR reservedUntil = :until)`,
    values: { ':holder': holder, ':until': reservedUntil },
  });
};

/**
 * Claims a name and writes its record. Where the write fails and left no record, the name is free again for a second try; a
 * process that is killed leaves it claimed for a while.
 * @returns undefined when the name is taken
 */
export const createUnique = async <T>(
  key: Key,
  id: string,
  bears: (holder: string) => Promise<boolean>,
  write: () => Promise<T>,
  options: Options = {},
): Promise<T | undefined> => {
  if (!(await claimUnique(key, id, bears, options))) return undefined;
  try {
    return await write();
  } catch (error) {
    await bears(id)
      .then((isWritten) => isWritten || releaseUnique(key, id, options.attribute))
      .catch(() => undefined);
    throw error;
  }
};

/** Only of the record that holds it. */
export const releaseUnique = (key: Key, id: string, attribute = 'holder'): Promise<boolean> =>
  remove(key, { condition: `${attribute} = :id`, values: { ':id': id } });

/**
 * Unique names of one kind of record.
 * @param keyOf the key of the record's name
 * @param find the record of that id; undefined when there is none
 */
export const uniqueNames = <R extends { id: string }>(
  keyOf: (record: R) => Key,
  find: (id: string, like: R) => Promise<R | undefined>,
  { others, ...options }: Omit<Options, 'others'> & { others?(record: R): Options['others'] } = {},
) => {
  const haveSameName = (a: R, b: R): boolean => keyOf(a).pk === keyOf(b).pk && keyOf(a).sk === keyOf(b).sk;
  const bears = (record: R) => async (id: string) => {
    const holder = await find(id, record);
    return holder !== undefined && haveSameName(holder, record);
  };
  const optionsFor = (record: R): Options => ({ ...options, others: others?.(record) });
  const claim = (record: R): Promise<boolean> =>
    claimUnique(keyOf(record), record.id, bears(record), optionsFor(record));
  const create = <T>(record: R, write: () => Promise<T>): Promise<T | undefined> =>
    createUnique(keyOf(record), record.id, bears(record), write, optionsFor(record));
  const release = (record: R): Promise<boolean> => releaseUnique(keyOf(record), record.id, options.attribute);

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

  return { claim, create, release, rename };
};
