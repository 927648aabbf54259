import type { Place } from '../../client/page-addresses.ts';

/** A place that can be gone to. */
export interface Entry {
  name: string;
  /** What it belongs to: a workspace, an organization. */
  of: string;
  to: Place;
}

/** How well a text names an entry: begins with it, has a word that does, has it somewhere; undefined: not at all. */
const rankOf = ({ name, of }: Entry, words: string[]): number | undefined => {
  const [low, whole] = [name.toLowerCase(), `${name} ${of}`.toLowerCase()];
  if (!words.every((word) => whole.includes(word))) return undefined;
  const [first = ''] = words;
  if (low.startsWith(first)) return 0;
  return low.split(/[\s_/-]+/).some((part) => part.startsWith(first)) ? 1 : 2;
};

/** Those that have all words of a text, the closest first; all when there is none. */
export const matching = (text: string, entries: Entry[]): Entry[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries
    .flatMap((entry) => {
      const rank = rankOf(entry, words);
      return rank === undefined ? [] : [{ entry, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
};
