import { Cache } from './cache.ts';
import { type Key, keys } from './keys.ts';
import { updateRecord } from './records.ts';
import { type Paging, type Scan, type ScanResult, scan } from './scan.ts';
import { query, update } from './table.ts';

/**
 * Name indexes: an organization's workspaces, projects and variable sets, and a project's workspaces. An entry's sort
 * key ends with the name, case-insensitively, so that a list is read in the order of names and a page reads about as
 * many entries as it shows.
 */
export type Kind = 'workspace' | 'project' | 'variableSet';

/** Totals of an organization's names: their number, the number of changes, and the last change. */
export type NameCounts = { [K in `${Kind}Count` | `${Kind}Changes`]?: number } & {
  [K in `${Kind}ChangedAt`]?: string;
};

type Organization = NameCounts & { name: string };

/**
 * Counts added or removed names; 0 for a changed one. An interruption before this leaves a wrong total, which the next
 * request for the end of the list corrects ({@link countAgain}).
 */
export const countNames = async (organization: string, kind: Kind, more: 1 | 0 | -1): Promise<void> => {
  await updateRecord(keys.organization(organization), {
    add: { [`${kind}Count`]: more, [`${kind}Changes`]: 1 },
    set: { [`${kind}ChangedAt`]: new Date().toISOString() },
  });
};

/** Longer than writing and counting an entry takes. */
const settledMs = 60_000;

const countAgain = async (organization: Organization, kind: Kind, total: number): Promise<void> => {
  const changedAt = organization[`${kind}ChangedAt`];
  if (changedAt === undefined || Date.now() - Date.parse(changedAt) < settledMs) return;
  await update(keys.organization(organization.name), {
    set: { [`${kind}Count`]: total },
    condition: `${kind}Changes = :changes`,
    values: { ':changes': organization[`${kind}Changes`] },
  });
};

/** Names with a prefix, in a partition of the table. */
export interface Names {
  pk: string;
  /** Prefix of the sort key. */
  prefix: string;
  descending?: boolean;
}

const reader = <E extends Key>({ pk, prefix, descending = false }: Names, start?: string) => {
  let after = start;
  return async (limit: number): Promise<E[]> => {
    const entries = await query<E>({ pk, prefix, after, reverse: descending, limit });
    after = entries.at(-1)?.sk ?? after;
    return entries;
  };
};

/** Matching names. Reads until the page is full (platform/store/scan.ts). */
export const findNames = <E extends Key, R>(
  names: Names,
  filter: Omit<Scan<E, R>, 'read'>,
  paging: Paging,
): Promise<ScanResult<R>> => scan({ ...filter, read: reader<E>(names) }, paging);

/**
 * Sort keys after which pages begin, by list and page, cached in this instance, so that reading a list page by page
 * reads each entry once. Valid for a short time and until a name changes: a change that was never counted would
 * otherwise hide a name forever.
 */
const bookmarks = new Cache<{ changes: number; starts: Map<number, string> }>({ maxWeight: 500, keptMs: 30_000 });

const bookmarksOf = ({ pk, prefix, descending }: Names, size: number, changes: number): Map<number, string> => {
  const list = `${pk} ${prefix} ${descending ? '-' : ''}${size}`;
  const bookmark = bookmarks.get(list);
  if (bookmark?.changes === changes) return bookmark.starts;
  const fresh = { changes, starts: new Map<number, string>() };
  bookmarks.set(list, fresh);
  return fresh.starts;
};

const largestPiece = 1000;

/** A page of all names of the organization; each change of a name updates the total. */
export const pageOfNames = async <E extends Key>(
  organization: Organization,
  kind: Kind,
  names: Names,
  { page, size }: Paging,
): Promise<ScanResult<E>> => {
  const starts = bookmarksOf(names, size, organization[`${kind}Changes`] ?? 0);
  let at = page;
  while (at > 1 && !starts.has(at)) at--;
  const read = reader<E>(names, starts.get(at));
  const entries: E[] = [];
  const needed = (page - at + 1) * size + 1;
  let ended = false;
  while (!ended && entries.length < needed) {
    const limit = Math.min(needed - entries.length, largestPiece);
    const next = await read(limit);
    ended = next.length < limit;
    entries.push(...next);
  }
  for (let n = 1; n * size < entries.length; n++) starts.set(at + n, entries[n * size - 1]?.sk as string);
  const before = (at - 1) * size;
  const counted = organization[`${kind}Count`] ?? 0;
  const total = ended ? before + entries.length : Math.max(counted, before + entries.length);
  if (ended && total !== counted) await countAgain(organization, kind, total);
  const from = (page - at) * size;
  return { items: entries.slice(from, from + size), total, more: !ended };
};

/** All names with a prefix, in batches. For callers that have to process every one. */
export async function* eachName<E extends Key>(names: Names): AsyncGenerator<E[]> {
  const read = reader<E>(names);
  for (let ended = false; !ended; ) {
    const entries = await read(largestPiece);
    ended = entries.length < largestPiece;
    if (entries.length) yield entries;
  }
}
