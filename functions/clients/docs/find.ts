import MiniSearch, { type SearchResult } from 'minisearch';

/** A section, as infra/docs/site/build.ts writes it. Its place in the list is its id. */
export type Entry = [path: string, anchor: string, page: string, title: string, text: string];

export type Index = MiniSearch;

/** Takes some 100 ms for all pages. */
export const indexOf = (entries: Entry[]): Index => {
  const index = new MiniSearch({
    fields: ['page', 'title', 'text'],
    searchOptions: { boost: { page: 3, title: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll(entries.map(([, , page, title, text], id) => ({ id, page, title, text })));
  return index;
};

/** Sections with all words, or, if there is none, with some; the best first. */
export const find = (index: Index, words: string): SearchResult[] => {
  const whole = index.search(words);
  return whole.length ? whole : index.search(words, { combineWith: 'OR' });
};
