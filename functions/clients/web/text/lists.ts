/** How lists are written, searched and sorted. */

/** One entry a line, because entries may contain commas; none for an empty text. */
export const linesOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Words of a search, in lower case; none for an empty text. */
export const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** `node[2]` before `node[10]`. */
export const natural = new Intl.Collator('en', { numeric: true });

/** `run tasks` → `Run tasks` */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
