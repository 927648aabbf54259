import MiniSearch, { type SearchResult } from 'minisearch';

/** A section, as infra/docs/site/build.ts writes it. Its place in the list is its id. The first of a page has keywords. */
export type Entry = [path: string, anchor: string, page: string, title: string, text: string, keywords?: string];

export type Index = MiniSearch;

/** Words of questions, which say nothing about their subject. */
const fillers = new Set(
  'a an and are as at be by can do does for from get have how i if in into is it its my of on or our should so some that the their them then there this to up use we what when where which why will with without you your'.split(
    ' ',
  ),
);

/** `Policies` and `policy`, `moving` and `move` are the same word. */
const stemOf = (word: string): string | null => {
  const lower = word.toLowerCase();
  if (fillers.has(lower)) return null;
  const stem = lower.replace(/(?:ing|ed|es|s|e)$/, '').replace(/y$/, 'i');
  return stem.length < 3 || /ss$/.test(lower) ? lower : stem;
};

/** Lists that have nearly every word. */
const lists = new Set(['api.html', 'not-served.html']);

/** Takes some 100 ms for all pages. */
export const indexOf = (entries: Entry[]): Index => {
  const index = new MiniSearch({
    fields: ['page', 'title', 'text', 'keywords'],
    processTerm: stemOf,
    searchOptions: {
      boost: { page: 3, title: 4, keywords: 8 },
      boostDocument: (id) => (lists.has(entries[id]?.[0] ?? '') ? 0.4 : 1),
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.15 : false),
    },
  });
  index.addAll(entries.map(([, , page, title, text, keywords = ''], id) => ({ id, page, title, text, keywords })));
  return index;
};

/** Sections with some of the words, the best first: those with more of them before others. */
export const find = (index: Index, words: string): SearchResult[] => {
  const found = index.search(words);
  const most = Math.max(...found.map(({ queryTerms }) => queryTerms.length));
  return found
    .map((result) => ({ ...result, score: result.score * (result.queryTerms.length / most) ** 3 }))
    .sort((a, b) => b.score - a.score);
};
