/**
 * Pages of filtered lists. Pointers contain the attributes that never change, so that a filter reads records only when
 * it needs other attributes.
 */
export interface Paging {
  /** From 1. */
  page: number;
  size: number;
}

export interface ScanResult<R> {
  items: R[];
  /** Number of matches among the entries read, which are all entries unless `more`. */
  total: number;
  more: boolean;
}

export interface Scan<P, R> {
  /** The next pointers in the list's order, at most `limit`; fewer only at the end. */
  read(limit: number): Promise<P[]>;
  /** Pointers that may match. */
  narrow(pointers: P[]): P[] | Promise<P[]>;
  /** Their records; missing ones are left out. */
  records(pointers: P[]): Promise<R[]>;
  /** Absent if {@link narrow} is the whole filter. */
  fits?(record: R): boolean;
}

/** Maximum number of records and of pointers that one request reads. */
const maxRecords = 2000;
const maxPointers = 20_000;
/** Batches grow, so that neither a full page nor a rare match costs many reads. Pointers are some 200 bytes each. */
const smallestPiece = { records: 20, pointers: 100 };
const largestPiece = 500;

/** The filter matches too rarely for one request to fill the page within its limits. */
export class FilterTooWideError extends Error {
  override name = 'FilterTooWideError';
  readonly looked: number;

  constructor(looked: number) {
    super(`looked at ${looked} entries without filling the page`);
    this.looked = looked;
  }
}

/**
 * Reads until the page is full and one more match is found.
 * @throws {FilterTooWideError} instead of leaving out matches silently
 */
export const scan = async <P, R>(
  { read, narrow, records, fits }: Scan<P, R>,
  paging: Paging,
): Promise<ScanResult<R>> => {
  const { page, size } = paging;
  const needed = page * size + 1;
  const maxLooked = fits ? maxRecords : maxPointers;
  const pointers: P[] = [];
  const matching: R[] = [];
  const count = () => (fits ? matching.length : pointers.length);
  let looked = 0;
  let piece = Math.max(needed, fits ? smallestPiece.records : smallestPiece.pointers);
  let ended = false;
  for (; !ended && count() < needed && looked < maxLooked; piece *= 2) {
    const limit = Math.min(piece, largestPiece, maxLooked - looked);
    const next = await read(limit);
    ended = next.length < limit;
    looked += next.length;
    const some = await narrow(next);
    if (fits) matching.push(...(await records(some)).filter(fits));
    else pointers.push(...some);
  }
  const isCut = !ended && count() < needed && (await read(1)).length > 0;
  if (isCut && count() < page * size) throw new FilterTooWideError(looked);
  const from = (page - 1) * size;
  const items = fits ? matching.slice(from, from + size) : await records(pointers.slice(from, from + size));
  return { items, total: count(), more: isCut || count() > page * size };
};
