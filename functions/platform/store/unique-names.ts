import type { Key } from './keys.ts';
import { create as createItem, get, put, remove } from './table.ts';

/** Unique names: an item for each name points to the record that has it. */

/**
 * A claimed name belongs to its claimant alone for this long, until the record is written: the API's functions are
 * stopped after 29 s.
 */
const claimMs = 30_000;

interface Options {
  /** Time during which the claim holds without a record. */
  ms?: number;
  /** Other attributes of the item. */
  others?: Record<string, unknown>;
}

/**
 * True if the record may have the name: it is free, or its claimant stopped before writing its record.
 * @param bears whether the record with that id exists and has the name
 */
export const claimUnique = async (
  key: Key,
  id: string,
  bears: (holder: string) => Promise<boolean>,
  { ms = claimMs, others = {} }: Options = {},
): Promise<boolean> => {
  const now = Date.now();
  const claim = { ...key, ...others, holder: id, reservedUntil: new Date(now + ms).toISOString() };
  if (await createItem(claim)) return true;
  const current = await get<Record<string, string>>(key);
  const { holder, reservedUntil = '' } = current ?? {};
  if (holder === undefined) return false;
  if (holder !== id && (reservedUntil > new Date(now).toISOString() || (await bears(holder)))) return false;
  return put(claim, {
    condition: 'holder = :holder AND (attribute_not_exists(reservedUntil) OR reservedUntil = :until)',
    values: { ':holder': holder, ':until': reservedUntil },
  });
};

/**
 * Claims a name and writes its record. If the write fails and left no record, the name is released for a retry; a
 * killed process leaves it claimed for a while.
 * @returns undefined if the name is taken
 */
const createUnique = async <T>(
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
      .then((isWritten) => isWritten || releaseUnique(key, id))
      .catch(() => undefined);
    throw error;
  }
};

/** Releases the name only if this record holds it. */
export const releaseUnique = (key: Key, id: string): Promise<boolean> =>
  remove(key, { condition: 'holder = :id', values: { ':id': id } });

/** The record that has the name, or claims it. 2 reads. */
export const findUnique = async <R>(key: Key, find: (id: string) => Promise<R>): Promise<R | undefined> => {
  const pointer = await get<{ holder: string }>(key);
  return pointer && find(pointer.holder);
};

/** Unique names of one kind of record. */
export interface UniqueNames<R extends { id: string }> {
  /** Key of the record's name. */
  key(record: R): Key;
  /** The record with that id; undefined if there is none. */
  find(id: string, like: R): Promise<R | undefined>;
  /** Other attributes of the name's item. */
  others?(record: R): Record<string, unknown>;
}

const haveSameName = <R extends { id: string }>({ key }: UniqueNames<R>, a: R, b: R): boolean =>
  key(a).pk === key(b).pk && key(a).sk === key(b).sk;

const bearsName =
  <R extends { id: string }>(names: UniqueNames<R>, record: R) =>
  async (id: string): Promise<boolean> => {
    const holder = await names.find(id, record);
    return holder !== undefined && haveSameName(names, holder, record);
  };

/** Like `claimUnique`. */
export const claimName = <R extends { id: string }>(names: UniqueNames<R>, record: R): Promise<boolean> =>
  claimUnique(names.key(record), record.id, bearsName(names, record), { others: names.others?.(record) });

/** Like `createUnique`. */
export const createNamed = <R extends { id: string }, T>(
  names: UniqueNames<R>,
  record: R,
  write: () => Promise<T>,
): Promise<T | undefined> =>
  createUnique(names.key(record), record.id, bearsName(names, record), write, { others: names.others?.(record) });

/** Creates a record with its name; undefined if the name is taken. 2 writes. */
export const createNamedRecord = <R extends { id: string }>(
  names: UniqueNames<R>,
  record: R,
  key: Key,
): Promise<R | undefined> =>
  createNamed(names, record, async () => {
    await createItem({ ...key, ...record });
    return record;
  });

/** Like `releaseUnique`. */
export const releaseName = <R extends { id: string }>(names: UniqueNames<R>, record: R): Promise<boolean> =>
  releaseUnique(names.key(record), record.id);

/**
 * Writes a change of a record, with its name if that changes: 2 more writes.
 * @param write returns undefined if nothing was written, which keeps the name
 */
export const rename = async <R extends { id: string }, T>(
  names: UniqueNames<R>,
  record: R,
  changed: R,
  write: () => Promise<T | undefined>,
): Promise<T | 'name taken' | undefined> => {
  const isRenamed = !haveSameName(names, record, changed);
  if (isRenamed && !(await claimName(names, changed))) return 'name taken';
  const written = await write();
  if (isRenamed) await releaseName(names, written === undefined ? changed : record);
  return written;
};
