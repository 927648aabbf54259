/** How lists are searched and sorted. */

/** Words of a search, in lower case; none for an empty text. */
export const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** `node[2]` before `node[10]`. */
export const natural = new Intl.Collator('en', { numeric: true });
