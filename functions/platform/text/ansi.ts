import { visible } from './visible.ts';

/**
 * Parses terminal colors (ECMA-48, select graphic rendition) into pieces of text with a style. Creates no markup:
 * everything in a log stays text.
 */

export interface Style {
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  /** One of the terminal's 8 colors, 0–7. */
  colour?: number;
}

export interface Piece {
  text: string;
  style: Style;
}

export const plain: Style = Object.freeze({});

/** The nearest of the 8 colors to a 256-color or true-color value. */
const nearest = (red: number, green: number, blue: number): number => {
  const strongest = Math.max(red, green, blue);
  if (strongest < 60) return 0;
  return (red > strongest * 0.6 ? 1 : 0) + (green > strongest * 0.6 ? 2 : 0) + (blue > strongest * 0.6 ? 4 : 0);
};

const ofPalette = (n: number): number => {
  if (n < 16) return n % 8;
  if (n >= 232) return n < 244 ? 0 : 7;
  const level = (part: number) => part * 51;
  return nearest(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6));
};

const set = (style: Style, codes: number[]): Style => {
  let next = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next = { ...next, bold: undefined, dim: undefined };
    else if (code === 23) next.italic = undefined;
    else if (code === 24) next.underline = undefined;
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code >= 90 && code <= 97) next.colour = code - 90;
    else if (code === 39) next.colour = undefined;
    else if (code === 38 || code === 48) {
      const [mode, a = 0, b = 0, c = 0] = codes.slice(i + 1);
      if (code === 38) next.colour = mode === 5 ? ofPalette(a) : nearest(a, b, c);
      i += mode === 5 ? 2 : 4;
    }
  }
  return next;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters to parse them
const sequence = /\x1b(?:\[([\d;:]*)([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f]/g;

/** @returns the pieces of one line, and the initial style of the next line */
export const ansi = (line: string, begin: Style = plain): { pieces: Piece[]; end: Style } => {
  const pieces: Piece[] = [];
  let style = begin;
  let at = 0;
  for (const match of line.matchAll(sequence)) {
    if (match.index > at) pieces.push({ text: visible(line.slice(at, match.index)), style });
    at = match.index + match[0].length;
    if (match[2] === 'm') style = set(style, (match[1] || '0').split(/[;:]/).map(Number));
  }
  if (at < line.length) pieces.push({ text: visible(line.slice(at)), style });
  return { pieces, end: style };
};

/** The text without control sequences; other hidden characters are made visible. */
export const stripAnsi = (line: string): string =>
  visible(line.includes('\x1b') || /\p{Cc}/u.test(line) ? line.replace(sequence, '') : line);
