/** Number of edits (insert, delete, change, swap neighbours) between two words (optimal string alignment). */
const distance = (a: string, b: string): number => {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(at(i - 1, j) + 1, (row[j - 1] ?? 0) + 1, change, swapped ? at(i - 2, j - 2) + 1 : change));
    }
  }
  return at(a.length, b.length);
};

/** The most similar word: at most a third of its letters differ, or it starts with the typed word. */
export const nearest = (typed: string, words: string[]): string | undefined => {
  const [best] = words
    .map((word) => ({ word, far: word.startsWith(typed) && typed.length > 1 ? 0.5 : distance(typed, word) }))
    .sort((a, b) => a.far - b.far || a.word.length - b.word.length);
  return best && best.far <= Math.max(1, Math.floor(best.word.length / 3)) ? best.word : undefined;
};
