/** A picture of where a value comes from and where it goes: two forms side by side, and arrows between their fields. */

export interface Field {
  name: string;
  value: string;
  /** Number of the arrow that begins here. */
  from?: number;
  /** Number of the arrow that ends here. */
  to?: number;
}

export interface Side {
  title: string;
  /** Menus and buttons to the form, with the names that they have there. */
  path: string[];
  fields: Field[];
}

export interface Guide {
  /** Begins the names of the files. */
  name: string;
  title: string;
  left: Side;
  right: Side;
}

const width = 760;
const column = 340;
const padding = 14;
/** Characters in a line of a column: fonts differ, so that lines are short. */
const lineLength = { path: 48, value: 38 };

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const wrapped = (text: string, length: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= length) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

const text = (x: number, y: number, kind: string, content: string): string =>
  `<text x="${x}" y="${y}" class="${kind}">${escaped(content)}</text>`;

interface Drawn {
  parts: string[];
  height: number;
  /** Middle of each field with an arrow. */
  ends: { arrow: number; begins: boolean; y: number }[];
}

const drawSide = ({ title, path, fields }: Side, x: number): Drawn => {
  const parts = [text(x + padding, 28, 'title', title)];
  const ends: Drawn['ends'] = [];
  const menus = wrapped(path.join(' › '), lineLength.path);
  for (const [index, line] of menus.entries()) parts.push(text(x + padding, 49 + 17 * index, 'soft', line));
  let y = 40 + 17 * menus.length;
  for (const { name, value, from, to } of fields) {
    const lines = wrapped(value, lineLength.value);
    const height = 10 + 17 * lines.length;
    parts.push(text(x + padding, y + 18, 'soft', name));
    y += 24;
    parts.push(
      `<rect x="${x + padding}" y="${y}" width="${column - 2 * padding}" height="${height}" rx="5" class="field"/>`,
    );
    const arrow = from ?? to;
    if (arrow !== undefined) ends.push({ arrow, begins: from !== undefined, y: y + height / 2 });
    // The number of an arrow is at the edge towards the other column.
    const start = x + padding + (x > 0 && arrow !== undefined ? 30 : 9);
    for (const [index, line] of lines.entries()) parts.push(text(start, y + 19 + 17 * index, 'text', line));
    y += height;
  }
  return { parts, height: y + padding, ends };
};

const styles = (colours: Record<string, string>): string =>
  Object.entries(colours)
    .map(([kind, declarations]) => `.${kind}{${declarations}}`)
    .join('');

const light = styles({
  panel: 'fill:#fff;stroke:#c5cbd6',
  field: 'fill:#f5f6f9;stroke:#868f9f',
  title: 'fill:#171b22;font-weight:600;font-size:15px',
  text: 'fill:#171b22',
  soft: 'fill:#545d6c;font-size:12px',
  arrow: 'fill:none;stroke:#4a3fd4;stroke-width:1.6',
  mark: 'fill:#4a3fd4',
  number: 'fill:#fff;font-weight:600;font-size:11px;text-anchor:middle',
});

const dark = styles({
  panel: 'fill:#161b22;stroke:#3b4452',
  field: 'fill:#0e1116;stroke:#6d7889',
  title: 'fill:#e6eaf1',
  text: 'fill:#e6eaf1',
  soft: 'fill:#a3adbb',
  arrow: 'stroke:#a9a0ff',
  mark: 'fill:#a9a0ff',
  number: 'fill:#0e1116',
});

/** @throws {Error} for an arrow without a beginning or an end */
export const draw = ({ title, left, right }: Guide): string => {
  const second = width - column;
  const sides = [drawSide(left, 0), drawSide(right, second)] as const;
  const height = Math.max(...sides.map((side) => side.height));
  const edges = [column - padding, second + padding];
  const ends = sides.flatMap((side, index) => side.ends.map((end) => ({ ...end, x: edges[index] as number })));
  const numbers = [...new Set(ends.map(({ arrow }) => arrow))].sort();
  const arrows = numbers.flatMap((number) => {
    const from = ends.find(({ arrow, begins }) => arrow === number && begins);
    const to = ends.find(({ arrow, begins }) => arrow === number && !begins);
    if (!from || !to) throw new Error(`${title}: arrow ${number} lacks a beginning or an end`);
    const middle = (from.x + to.x) / 2;
    const line = `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
    return [
      `<path d="${line}" class="arrow" marker-end="url(#head)"/>`,
      ...[from, to].map(({ x, y }) => {
        const at = x + (x < middle ? -15 : 15);
        return `<circle cx="${at}" cy="${y}" r="9" class="mark"/>${text(at, y + 4, 'number', String(number))}`;
      }),
    ];
  });
  const panel = (x: number) =>
    `<rect x="${x + 0.5}" y="0.5" width="${column - 1}" height="${height - 1}" rx="10" class="panel"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif" font-size="13">
<title>${escaped(title)}</title>
<style>${light}@media (prefers-color-scheme:dark){${dark}}</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" class="mark"/></marker></defs>
${[panel(0), panel(second), ...sides.flatMap(({ parts }) => parts), ...arrows].join('\n')}
</svg>
`;
};
