/** What differs between two texts, line by line and inside of lines. */

export interface Part {
  text: string;
  changed: boolean;
}

export interface Line {
  parts: Part[];
  /** The same on both sides. */
  same: boolean;
}

/** So many pairs of lines are compared at most; above it is only said where the difference begins and ends. */
const mostPairs = 250_000;

const sharedBegin = <T>(a: ArrayLike<T>, b: ArrayLike<T>): number => {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a[n] === b[n]) n++;
  return n;
};

const sharedEnd = <T>(a: ArrayLike<T>, b: ArrayLike<T>, most: number): number => {
  let n = 0;
  while (n < most && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
};

/** Pairs of indexes of lines that are the same, rising: the most there can be. */
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

const whole = (text: string, same: boolean): Line => ({ parts: [{ text, changed: !same }], same });

/** The two versions of a line, each with what only it has marked. */
const inside = (a: string, b: string): [Line, Line] => {
  // By characters as people count them: half of one cannot be shown.
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
  // Two lines with little in common are two lines.
  if (begin + end < Math.min(before.length, after.length) / 3) return [whole(a, false), whole(b, false)];
  return [marked(before), marked(after)];
};

/** @returns the lines of both, in their order */
export const textDifference = (before: string, after: string): { before: Line[]; after: Line[] } => {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const begin = sharedBegin(a, b);
  const end = sharedEnd(a, b, Math.min(a.length, b.length) - begin);
  const [left, right] = [a.slice(begin, a.length - end), b.slice(begin, b.length - end)];
  const result: { before: Line[]; after: Line[] } = { before: [], after: [] };
  const keep = (lines: string[]) => {
    for (const text of lines) {
      result.before.push(whole(text, true));
      result.after.push(whole(text, true));
    }
  };
  keep(a.slice(0, begin));
  let [i, j] = [0, 0];
  for (const [nextI, nextJ] of [...common(left, right), [left.length, right.length] as const]) {
    const [removed, added] = [left.slice(i, nextI), right.slice(j, nextJ)];
    for (let n = 0; n < Math.max(removed.length, added.length); n++) {
      const [was, is] = [removed[n], added[n]];
      if (was !== undefined && is !== undefined) {
        const [one, other] = inside(was, is);
        result.before.push(one);
        result.after.push(other);
      } else if (was !== undefined) result.before.push(whole(was, false));
      else if (is !== undefined) result.after.push(whole(is, false));
    }
    if (nextI < left.length) keep([left[nextI] as string]);
    [i, j] = [nextI + 1, nextJ + 1];
  }
  keep(a.slice(a.length - end));
  return result;
};

/** Unchanged lines that are shown around those that changed. */
const around = 2;

/** Lines, and in place of many that are the same how many they are. */
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
  // One line takes no more space than to say that it is left out.
  let at = 0;
  return rows.map((row) => {
    const line = lines[at];
    at += typeof row === 'number' ? row : 1;
    return row === 1 && line ? line : row;
  });
};
