/** Pages of lists that are read by pointers, which tell what a filter wants to know as far as it never changes. */
export interface Paging {
  /** From 1. */
  page: number;
  size: number;
}

export interface ScanResult<R> {
  items: R[];
  /** How many fit among those looked at, which are all of them unless `more`. */
  total: number;
  more: boolean;
}

export interface Scan<P, R> {
  /** The next pointers in the list's order, at most so many; fewer only where it ends. */
  read(limit: number): Promise<P[]>;
  /** Those that may fit, as far as pointers tell. */
  narrow(pointers: P[]): P[] | Promise<P[]>;
  /** Their records; those that are not there are left out. */
  records(pointers: P[]): Promise<R[]>;
  /** Missing: the pointer tells it all. */
  fits?(record: R): boolean;
}

/** How far a list looks, in records it has to read, and in pointers alone. */
const maxRecords = 2000;
const maxPointers = 20_000;
/** Pieces grow, so that neither a full page nor a rare match costs many reads. Pointers are some 200 bytes each. */
const smallestPiece = { records: 20, pointers: 100 };
const largestPiece = 500;

/** A filter that fits so little that the page could not be filled from all that one request looks at. */
export class FilterTooWideError extends Error {
  override name = 'FilterTooWideError';
  readonly looked: number;

  constructor(looked: number) {
    super(`looked at ${looked} entries without filling the page`);
    this.looked = looked;
  }
}

/**
 * Looks on until the page is full and one more is known of.
 * @throws {FilterTooWideError} what lies beyond is not left out without a word
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
