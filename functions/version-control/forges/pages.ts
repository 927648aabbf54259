/** Lists of forges that name the next page in each page. */

export interface PageAfter<T, C> {
  items: T[];
  /** Of the next page; absent after the last one. */
  next?: C | null | undefined;
}

/** Items of a list up to a number of pages; undefined if there are more, or `read` finds no list. */
export const followPages = async <T, C>(
  pages: number,
  read: (cursor: C | undefined) => Promise<PageAfter<T, C> | undefined>,
): Promise<T[] | undefined> => {
  const all: T[] = [];
  let cursor: C | undefined;
  for (let i = 0; i < pages; i++) {
    const page = await read(cursor);
    if (!page) return undefined;
    all.push(...page.items);
    if (page.next == null) return all;
    cursor = page.next;
  }
  return undefined;
};
