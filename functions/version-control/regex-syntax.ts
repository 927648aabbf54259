/**
 * Regular expressions from users, matched in time linear in the text: JavaScript's own can backtrack. The syntax is a
 * subset of RE2's; other constructs are rejected by name. Pure.
 */

/** The error in an expression, for its author. */
export class RegexError extends Error {
  override name = 'RegexError';
}

export type Range = readonly [from: number, to: number];

export type Node =
  | { kind: 'one'; ranges: readonly Range[] }
  | { kind: 'start' | 'end' }
  | { kind: 'all'; parts: readonly Node[] }
  | { kind: 'any'; parts: readonly Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number };

const maxRepeats = 1000;
const lastCharacter = 0x10ffff;

export const codeOf = (char: string): number => char.codePointAt(0) as number;

const without = (ranges: readonly Range[]): Range[] => {
  const rest: Range[] = [];
  let next = 0;
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    if (from > next) rest.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= lastCharacter) rest.push([next, lastCharacter]);
  return rest;
};

const rangesOf = (...texts: string[]): Range[] =>
  texts.map((text) => [text.charCodeAt(0), text.charCodeAt(text.length - 1)] as const);

const digits = rangesOf('09');
const wordCharacters = rangesOf('09', 'AZ', '__', 'az');
const spaces = rangesOf('\t\n', '\f\r', '  ');
const classes: Record<string, readonly Range[]> = {
  d: digits,
  D: without(digits),
  w: wordCharacters,
  W: without(wordCharacters),
  s: spaces,
  S: without(spaces),
};
const controls: Record<string, string> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v', a: '\x07' };
const notLineEnd = without(rangesOf('\n\n'));

/** Recursive descent; the nesting of parentheses determines its depth. */
export class Parser {
  readonly #chars: string[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#chars = Array.from(text);
  }

  parse(): Node {
    const node = this.#alternatives();
    if (this.#at < this.#chars.length) throw new RegexError('a closing parenthesis has no opening one');
    return node;
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #take(text: string): boolean {
    const there = this.#chars.slice(this.#at, this.#at + text.length).join('') === text;
    if (there) this.#at += text.length;
    return there;
  }

  #alternatives(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return { kind: 'any', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (let char = this.#peek(); char !== undefined && char !== '|' && char !== ')'; char = this.#peek()) {
      if (this.#counts()) throw new RegexError('a repetition has nothing to repeat');
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'all', parts };
  }

  #repeated(part: Node): Node {
    const counts = this.#counts();
    if (!counts) return part;
    // Laziness does not affect whether there is a match.
    this.#take('?');
    if (this.#counts()) throw new RegexError('a repetition is repeated; put it in parentheses');
    return { kind: 'repeat', part, ...counts };
  }

  #counts(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { min: 0, max: 1 };
    const [whole, from = '', comma, to] =
      /^\{(\d+)(,(\d*))?\}/.exec(this.#chars.slice(this.#at, this.#at + 20).join('')) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    const min = Number(from);
    const max = comma === undefined ? min : to ? Number(to) : Number.POSITIVE_INFINITY;
    if (min > max || min > maxRepeats || (max > maxRepeats && max !== Number.POSITIVE_INFINITY)) {
      throw new RegexError(`${whole} is not a number of repetitions up to ${maxRepeats}`);
    }
    return { min, max };
  }

  #atom(): Node {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return { kind: 'one', ranges: this.#class() };
    if (this.#take('.')) return { kind: 'one', ranges: notLineEnd };
    if (this.#take('^') || this.#take('\\A')) return { kind: 'start' };
    if (this.#take('$') || this.#take('\\z')) return { kind: 'end' };
    return { kind: 'one', ranges: this.#literal() };
  }

  #group(): Node {
    if (this.#take('?') && !this.#take(':')) {
      const [whole] = /^P?<\w+>/.exec(this.#chars.slice(this.#at).join('')) ?? [];
      if (!whole) throw new RegexError(`(?${this.#peek() ?? ''} is not supported`);
      this.#at += whole.length;
    }
    if (++this.#depth > 100) throw new RegexError('parentheses are nested more than 100 deep');
    const inner = this.#alternatives();
    this.#depth--;
    if (!this.#take(')')) throw new RegexError('an opening parenthesis has no closing one');
    return inner;
  }

  #class(): readonly Range[] {
    const negated = this.#take('^');
    const ranges: Range[] = [];
    for (let first = true; first || this.#peek() !== ']'; first = false) {
      if (this.#peek() === undefined) throw new RegexError('[ has no closing ]');
      if (this.#chars.slice(this.#at, this.#at + 2).join('') === '[:') throw new RegexError('[: is not supported');
      const low = this.#literal();
      const isRange = this.#peek() === '-' && ![']', undefined].includes(this.#chars[this.#at + 1]);
      if (!isRange) {
        ranges.push(...low);
        continue;
      }
      this.#at++;
      ranges.push(this.#range(low, this.#literal()));
    }
    this.#at++;
    return negated ? without(ranges) : ranges;
  }

  #range(low: readonly Range[], high: readonly Range[]): Range {
    const [from, to] = [low, high].map(([only, ...more]) =>
      only?.[0] === only?.[1] && !more.length ? only?.[0] : NaN,
    );
    if (from === undefined || to === undefined || !(from <= to)) throw new RegexError('a range in [ ] is not valid');
    return [from, to];
  }

  #literal(): readonly Range[] {
    const char = this.#chars[this.#at++] as string;
    if (char !== '\\') return [[codeOf(char), codeOf(char)]];
    const escaped = this.#chars[this.#at++] ?? '';
    const known = Object.hasOwn(classes, escaped) ? classes[escaped] : undefined;
    if (known) return known;
    const plain = Object.hasOwn(controls, escaped) ? controls[escaped] : escaped;
    if (plain === undefined || plain === '' || (plain === escaped && !/^[!-/:-@[-`{-~]$/.test(plain))) {
      throw new RegexError(`\\${escaped} is not supported`);
    }
    return [[codeOf(plain), codeOf(plain)]];
  }
}
