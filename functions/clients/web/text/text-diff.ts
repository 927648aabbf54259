/** Differences between two texts, by line and within lines. */

export interface Part {
  text: string;
  changed: boolean;
}

export interface Line {
  parts: Part[];
  /** The same on both sides. */
  same: boolean;
}

/** Maximum number of line pairs to compare; larger texts only get the start and end of the difference. */
const mostPairs = 250_000;

const sharedBegin = <T>(a: ArrayLike<T>, b: ArrayLike<T>): number => {
  const max = Math.min(a.length, b.length);
  let n = 0;
  while (n < max && a[n] === b[n]) n++;
  return n;
};

const sharedEnd = <T>(a: ArrayLike<T>, b: ArrayLike<T>, max: number): number => {
  let n = 0;
  while (n < max && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
};

/** Longest common subsequence: pairs of line indexes, ascending. */
const common = (a: string[], b: string[]): [number, number][] => {
  if (a.length * b.length > mostPairs) return [];
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      best[at] = a[i] === b[j] ? (best[at + width + 1] ?? 0) + 1 : Math.max(best[at + width] ?? 0, best[at + 1] ?? 0);
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const at = i * width + j;
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if ((best[at + width] ?? 0) >= (best[at + 1] ?? 0)) i++;
    else j++;
  }
  return pairs;
};

const wholeLine = (text: string, same: boolean): Line => ({ parts: [{ text, changed: !same }], same });

/** Two versions of a line, with their differing parts marked. */
const inside = (a: string, b: string): [Line, Line] => {
  // By code point, because half of a surrogate pair cannot be displayed.
  const [before, after] = [[...a], [...b]];
  const begin = sharedBegin(before, after);
  const end = sharedEnd(before, after, Math.min(before.length, after.length) - begin);
  const marked = (all: string[]): Line => ({
    same: false,
    parts: [
      { text: all.slice(0, begin).join(''), changed: false },
      { text: all.slice(begin, all.length - end).join(''), changed: true },
      { text: all.slice(all.length - end).join(''), changed: false },
    ].filter(({ text }) => text !== ''),
  });
  // Lines with little in common are shown as removed and added.
  if (begin + end < Math.min(before.length, after.length) / 3) return [wholeLine(a, false), wholeLine(b, false)];
  return [marked(before), marked(after)];
};

/** @returns the lines of both texts, in order */
export const textDifference = (before: string, after: string): { before: Line[]; after: Line[] } => {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const begin = sharedBegin(a, b);
  const end = sharedEnd(a, b, Math.min(a.length, b.length) - begin);
  const [left, right] = [a.slice(begin, a.length - end), b.slice(begin, b.length - end)];
  const result: { before: Line[]; after: Line[] } = { before: [], after: [] };
  const keep = (lines: string[]) => {
    for (const text of lines) {
      result.before.push(wholeLine(text, true));
      result.after.push(wholeLine(text, true));
    }
  };
  keep(a.slice(0, begin));
  let [i, j] = [0, 0];
  for (const [nextI, nextJ] of [...common(left, right), [left.length, right.length] as const]) {
    const [removed, added] = [left.slice(i, nextI), right.slice(j, nextJ)];
    for (let n = 0; n < Math.max(removed.length, added.length); n++) {
      const [removedLine, addedLine] = [removed[n], added[n]];
      if (removedLine !== undefined && addedLine !== undefined) {
        const [removedParts, addedParts] = inside(removedLine, addedLine);
        result.before.push(removedParts);
        result.after.push(addedParts);
      } else if (removedLine !== undefined) result.before.push(wholeLine(removedLine, false));
      else if (addedLine !== undefined) result.after.push(wholeLine(addedLine, false));
    }
    if (nextI < left.length) keep([left[nextI] as string]);
    [i, j] = [nextI + 1, nextJ + 1];
  }
  keep(a.slice(a.length - end));
  return result;
};

/** Context lines around a change. */
const around = 2;

/** Lines, with long unchanged parts replaced by their number of lines. */
export const shortened = (lines: Line[]): (Line | number)[] => {
  const near = (i: number): boolean => lines.slice(Math.max(0, i - around), i + around + 1).some(({ same }) => !same);
  const rows: (Line | number)[] = [];
  for (const [i, line] of lines.entries()) {
    if (near(i)) {
      rows.push(line);
      continue;
    }
    const last = rows.at(-1);
    if (typeof last === 'number') rows[rows.length - 1] = last + 1;
    else rows.push(1);
  }
  // Hiding a single line would save no space.
  let at = 0;
  return rows.map((row) => {
    const line = lines[at];
    at += typeof row === 'number' ? row : 1;
    return row === 1 && line ? line : row;
  });
};
