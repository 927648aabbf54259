import { type Inline, parseInline } from './inline.ts';

/**
 * Parses untrusted Markdown into a tree of paragraphs, headings, lists, code, quotes,
 * tables and links. HTML stays text. Takes linear time.
 */
export type Block =
  | { kind: 'paragraph' | 'heading'; children: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; ordered: boolean; items: Block[][] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' };

const maxDepth = 6;
const maxColumns = 20;

// No expression has two adjacent parts that match the same text: it would backtrack on long lines (ReDoS).
const heading = /^ {0,3}#{1,6}\s+(.*)$/;
const fence = /^ {0,3}(```+|~~~+)/;
const quote = /^ {0,3}> ?/;
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const item = /^( {0,9})([-*+]|\d{1,9}[.)])\s+(.*)$/;

const cells = (line: string, max?: number): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|', max)
    .map((cell) => cell.trim());

const isDivider = (line: string): boolean => line.includes('-') && cells(line).every((cell) => /^:?-+:?$/.test(cell));

const isTable = (lines: string[], at: number): boolean =>
  (lines[at] ?? '').includes('|') && isDivider(lines[at + 1] ?? '');

/** A heading may end with any number of `#`. */
const withoutSigns = (title: string): string => {
  let end = title.length;
  while (title[end - 1] === '#') end--;
  return title.slice(0, end).trimEnd();
};

const startsBlock = (line: string): boolean =>
  line.trim() === '' ||
  heading.test(line) ||
  fence.test(line) ||
  quote.test(line) ||
  rule.test(line) ||
  item.test(line);

/** Matching lines from `at` on, and the index after them. */
const take = (lines: string[], at: number, fits: (line: string) => boolean): [string[], number] => {
  let end = at;
  while (end < lines.length && fits(lines[end] ?? '')) end++;
  return [lines.slice(at, end), end];
};

type Read = [Block, number];

const readCode = (lines: string[], at: number, opening: string): Read => {
  const [code, end] = take(lines, at + 1, (line) => !line.trimStart().startsWith(opening));
  return [{ kind: 'code', text: code.join('\n') }, end + 1];
};

const readQuote = (lines: string[], at: number, depth: number): Read => {
  const [quoted, end] = take(lines, at, (line) => quote.test(line));
  return [
    {
      kind: 'quote',
      blocks: read(
        quoted.map((line) => line.replace(quote, '')),
        depth + 1,
      ),
    },
    end,
  ];
};

const readList = (lines: string[], at: number, depth: number): Read => {
  const ordered = /^\s*\d/.test(lines[at] ?? '');
  const items: Block[][] = [];
  let next = at;
  for (let match = item.exec(lines[next] ?? ''); match && /\d/.test(match[2] ?? '') === ordered; ) {
    const indent = (match[1] ?? '').length;
    // More indented lines belong to the item.
    const [following, end] = take(lines, next + 1, (line) => line.search(/\S/) > indent + 1);
    const dedented = following.map((line) => line.slice(Math.min(line.search(/\S/), indent + 2)));
    items.push(read([match[3] ?? '', ...dedented], depth + 1));
    next = end;
    match = item.exec(lines[next] ?? '');
  }
  return [{ kind: 'list', ordered, items }, next];
};

const readTable = (lines: string[], at: number): Read => {
  const [rows, end] = take(lines, at + 2, (line) => line.includes('|') && line.trim() !== '');
  const inlines = (line: string): Inline[][] => cells(line, maxColumns).map((cell) => parseInline(cell));
  return [{ kind: 'table', head: inlines(lines[at] ?? ''), rows: rows.map(inlines) }, end];
};

const readParagraph = (lines: string[], at: number): Read => {
  const [following, end] = take(lines, at + 1, (line) => !startsBlock(line));
  return [{ kind: 'paragraph', children: parseInline([lines[at], ...following].join('\n').trim()) }, end];
};

const readBlock = (lines: string[], at: number, depth: number): Read => {
  const line = lines[at] ?? '';
  if (depth >= maxDepth) return [{ kind: 'code', text: lines.slice(at).join('\n') }, lines.length];
  const [, opening] = fence.exec(line) ?? [];
  if (opening) return readCode(lines, at, opening);
  const [, title] = heading.exec(line) ?? [];
  if (title !== undefined) return [{ kind: 'heading', children: parseInline(withoutSigns(title.trimEnd())) }, at + 1];
  if (rule.test(line)) return [{ kind: 'rule' }, at + 1];
  if (quote.test(line)) return readQuote(lines, at, depth);
  if (item.test(line)) return readList(lines, at, depth);
  return isTable(lines, at) ? readTable(lines, at) : readParagraph(lines, at);
};

const read = (lines: string[], depth: number): Block[] => {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.trim() === '') {
      at++;
      continue;
    }
    const [block, next] = readBlock(lines, at, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
};

/** Longer texts are truncated. */
export const maxMarkdown = 200_000;

export const parseMarkdown = (text: string): Block[] =>
  read(text.slice(0, maxMarkdown).replaceAll(/\r\n?/g, '\n').replaceAll('\t', '    ').split('\n'), 0);
