import type { Place } from '#clients/client/page-addresses.ts';
import { wordsOf } from './lists.ts';

/** A destination of the palette. */
export interface Entry {
  name: string;
  /** Its workspace or organization. */
  of: string;
  to: Place;
}

/** Rank of a match: at the start, at the start of a word, anywhere; undefined: none. */
const rankOf = ({ name, of }: Entry, words: string[]): number | undefined => {
  const [low, qualified] = [name.toLowerCase(), `${name} ${of}`.toLowerCase()];
  if (!words.every((word) => qualified.includes(word))) return undefined;
  const [first = ''] = words;
  if (low.startsWith(first)) return 0;
  return low.split(/[\s_/-]+/).some((part) => part.startsWith(first)) ? 1 : 2;
};

/** Entries that match all words, best first; all entries for an empty text. */
export const matching = (text: string, entries: Entry[]): Entry[] => {
  const words = wordsOf(text);
  return entries
    .flatMap((entry) => {
      const rank = rankOf(entry, words);
      return rank === undefined ? [] : [{ entry, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
};
