/**
 * The part of HCL's grammar that finds blocks and attributes with their lines, without being misled by comments,
 * strings, heredocs and templates. Expressions stay text. After a syntax error the rest is still read, and the line is
 * recorded: Terraform itself reports errors of configurations to users (HCL native syntax specification).
 */
export interface Body {
  attributes: Record<string, string>;
  /** Line of each attribute's name, from 1. */
  lines: Record<string, number>;
  blocks: Block[];
}

export interface File extends Body {
  /** Lines at which neither an attribute nor a block begins, or at which an unclosed block begins. */
  faults: number[];
  /** Lines of repeated attributes; the last value counts. */
  repeated: number[];
}

export interface Block extends Body {
  type: string;
  labels: string[];
  /** Line of the block's header, from 1. */
  line: number;
}

/** Maximum nesting of blocks, brackets and templates: far beyond real configurations, far below a stack overflow. */
const maxNesting = 200;

/** The text nests deeper than {@link maxNesting}. The message names the line. */
export class NestingError extends Error {
  override name = 'NestingError';
  readonly line: number;

  constructor(text: string, at: number) {
    const line = text.slice(0, at).split('\n').length;
    super(`brackets and blocks are nested deeper than ${maxNesting} levels in line ${line}`);
    this.line = line;
  }
}

const deeper = (depth: number, text: string, at: number): number => {
  if (depth >= maxNesting) throw new NestingError(text, at);
  return depth + 1;
};

const identifier = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;
const heredoc = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)[ \t]*\r?\n/uy;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/** End of a `#`, `//` or `/*` comment that begins here; otherwise `at` itself. */
const skipComment = (text: string, at: number): number => {
  if (text[at] === '#' || text.startsWith('//', at)) {
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end;
  }
  if (!text.startsWith('/*', at)) return at;
  const end = text.indexOf('*/', at + 2);
  return end < 0 ? text.length : end + 2;
};

const opens = (text: string, at: number): boolean => text.startsWith('${', at) || text.startsWith('%{', at);
const escapedTemplate = (text: string, at: number): boolean => text.startsWith('$${', at) || text.startsWith('%%{', at);

/** Position after the string that begins at a quote. A newline ends an unclosed string, so that the rest is still read. */
const skipString = (text: string, start: number, depth: number): number => {
  let at = start + 1;
  while (at < text.length) {
    if (text[at] === '"') return at + 1;
    if (text[at] === '\n') return at;
    if (text[at] === '\\') at += 2;
    else if (escapedTemplate(text, at)) at += 3;
    else if (opens(text, at)) at = skipNested(text, at + 2, depth);
    else at++;
  }
  return at;
};

/** `start` is after an opening bracket or template marker. Returns the position after the closing one. */
const skipNested = (text: string, start: number, outer: number): number => {
  const depth = deeper(outer, text, start);
  let at = start;
  while (at < text.length) {
    const next = skipToken(text, at, depth);
    if (next > at) at = next;
    else if ('{[('.includes(text[at] as string)) at = skipNested(text, at + 1, depth);
    else if ('}])'.includes(text[at] as string)) return at + 1;
    else at++;
  }
  return at;
};

/** `start` is at `<<`. Returns the end of the line with the closing marker, before its newline. */
const skipHeredoc = (text: string, start: number, [all, marker]: RegExpExecArray, depth: number): number => {
  let line = start + all.length;
  while (line < text.length) {
    const end = text.indexOf('\n', line);
    const stop = end < 0 ? text.length : end;
    if (text.slice(line, stop).trim() === marker) return stop;
    let at = line;
    while (at < stop) {
      if (escapedTemplate(text, at)) at += 3;
      else if (opens(text, at)) at = skipNested(text, at + 2, depth);
      else at++;
    }
    // A template can span several lines.
    const after = at > stop ? text.indexOf('\n', at) : stop;
    line = after < 0 ? text.length : after + 1;
  }
  return Math.max(line, start);
};

/** Position after the comment, string or heredoc that begins here; otherwise `at` itself. */
const skipToken = (text: string, at: number, depth: number): number => {
  if (text[at] === '"') return skipString(text, at, depth);
  if (text.startsWith('<<', at)) {
    const match = matchAt(heredoc, text, at);
    if (match) return skipHeredoc(text, at, match, depth);
  }
  return skipComment(text, at);
};

/** Position of the newline, comment or closing brace that ends an attribute's expression. */
const skipExpression = (text: string, start: number, depth: number): number => {
  let at = start;
  while (at < text.length) {
    if (text[at] === '#' || text.startsWith('//', at)) return at;
    const next = skipToken(text, at, depth);
    if (next > at) at = next;
    else if ('{[('.includes(text[at] as string)) at = skipNested(text, at + 1, depth);
    else if (text[at] === '\n' || text[at] === '}') return at;
    else at++;
  }
  return at;
};

/** Position of the next character that is neither whitespace nor part of a comment. */
const skipSpace = (text: string, start: number): number => {
  let at = start;
  while (at < text.length) {
    const next = /\s/.test(text[at] as string) ? at + 1 : skipComment(text, at);
    if (next === at) return at;
    at = next;
  }
  return at;
};

interface Cursor {
  text: string;
  at: number;
  faults: number[];
  repeated: number[];
  /** Line breaks before `counted`; lookups have to be in rising order. */
  line: number;
  counted: number;
}

/** Labels can be quoted or bare. Returns undefined if no block's `{` follows. */
const readLabels = (cursor: Cursor, depth: number): string[] | undefined => {
  const labels: string[] = [];
  for (;;) {
    while (/[ \t]/.test(cursor.text[cursor.at] ?? '')) cursor.at++;
    const { text, at } = cursor;
    if (text[at] === '{') {
      cursor.at++;
      return labels;
    }
    const bare = matchAt(identifier, text, at);
    const end = bare ? at + bare[0].length : text[at] === '"' ? skipString(text, at, depth) : at;
    if (end === at) return undefined;
    labels.push(bare ? bare[0] : text.slice(at + 1, end - 1));
    cursor.at = end;
  }
};

const lineOf = (cursor: Cursor, at: number): number => {
  for (; cursor.counted < at; cursor.counted++) if (cursor.text[cursor.counted] === '\n') cursor.line++;
  return cursor.line;
};

/** `head`: line of the body's block; absent for the file itself. */
const readBody = (cursor: Cursor, depth: number, head?: number): Body => {
  const body: Body = { attributes: {}, lines: {}, blocks: [] };
  for (;;) {
    cursor.at = skipSpace(cursor.text, cursor.at);
    const { text, at } = cursor;
    if (at >= text.length) {
      if (head !== undefined) cursor.faults.push(head);
      return body;
    }
    if (text[at] === '}' && head !== undefined) {
      cursor.at++;
      return body;
    }
    const name = matchAt(identifier, text, at)?.[0];
    if (!name) {
      // Skips a line that begins neither an attribute nor a block.
      cursor.faults.push(lineOf(cursor, at));
      cursor.at = Math.max(at + 1, skipExpression(text, at, depth));
      continue;
    }
    cursor.at = at + name.length;
    const labels = readLabels(cursor, depth);
    if (labels) {
      const line = lineOf(cursor, at);
      body.blocks.push({ type: name, labels, line, ...readBody(cursor, deeper(depth, text, at), line) });
    } else {
      const end = skipExpression(text, cursor.at, depth);
      const [, value] = /^\s*=(?!=)([\s\S]*)$/.exec(text.slice(cursor.at, end)) ?? [];
      if (value === undefined) cursor.faults.push(lineOf(cursor, at));
      else {
        if (Object.hasOwn(body.attributes, name)) cursor.repeated.push(lineOf(cursor, at));
        body.attributes[name] = value.trim();
        body.lines[name] = lineOf(cursor, at);
      }
      cursor.at = end;
    }
  }
};

/** @throws {NestingError} */
export const parseHcl = (text: string): File => {
  const cursor: Cursor = { text: text.replace(/^\uFEFF/, ''), at: 0, faults: [], repeated: [], line: 1, counted: 0 };
  const body = readBody(cursor, 0);
  return { ...body, faults: cursor.faults, repeated: cursor.repeated };
};
