/**
 * Regular expressions of other people, in time linear in the text: JavaScript's own backtrack. The syntax is a part of
 * RE2's; what is not in it is refused by name. Pure.
 */

/** What is wrong with an expression, for whoever wrote it. */
export class RegexError extends Error {
  override name = 'RegexError';
}

type Range = readonly [from: number, to: number];

type Node =
  | { kind: 'one'; ranges: readonly Range[] }
  | { kind: 'start' | 'end' }
  | { kind: 'all'; parts: readonly Node[] }
  | { kind: 'any'; parts: readonly Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number };

/** Instructions: `one` eats a character, `split` goes on at two places, the others go on where their condition holds. */
type Step =
  | { kind: 'one'; ranges: readonly Range[] }
  | { kind: 'split'; to: number[] }
  | { kind: 'start' | 'end' | 'match' };

const maxSteps = 100_000;
const maxRepeats = 1000;
const lastCharacter = 0x10ffff;

const codeOf = (char: string): number => char.codePointAt(0) as number;

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

/** Recursive descent; the deepest nesting is that of the parentheses. */
class Parser {
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
    // Whether as few as possible are taken makes no difference to whether there is a match.
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
    if (from === undefined || to === undefined || !(from <= to)) throw new RegexError('a range in [ ] is not one');
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

const compile = (node: Node): Step[] => {
  const steps: Step[] = [];
  const add = (step: Step): void => {
    if (steps.length >= maxSteps) throw new RegexError('the expression is too large');
    steps.push(step);
  };
  const addSplit = (...to: number[]): number[] => {
    add({ kind: 'split', to });
    return to;
  };
  const emit = (one: Node): void => {
    if (one.kind === 'all') one.parts.forEach(emit);
    else if (one.kind === 'any') emitAny(one.parts);
    else if (one.kind === 'repeat') emitRepeat(one);
    else add(one);
  };
  const emitAny = (parts: readonly Node[]): void => {
    const ends = parts.map((part, i) => {
      const fork = i < parts.length - 1 ? addSplit(steps.length + 1) : undefined;
      emit(part);
      const end = addSplit();
      fork?.push(steps.length);
      return end;
    });
    for (const end of ends) end.push(steps.length);
  };
  const emitRepeat = ({ part, min, max }: Extract<Node, { kind: 'repeat' }>): void => {
    for (let i = 0; i < min; i++) emit(part);
    const endless = max === Number.POSITIVE_INFINITY;
    const forks: number[][] = [];
    for (let i = min; i < (endless ? min + 1 : max); i++) {
      const at = steps.length;
      forks.push(addSplit(at + 1));
      emit(part);
      if (endless) addSplit(at);
    }
    for (const fork of forks) fork.push(steps.length);
  };
  emit(node);
  add({ kind: 'match' });
  return steps;
};

interface Edges {
  start: boolean;
  end: boolean;
}

/** Where the program is, after what eats nothing. */
const reach = (steps: readonly Step[], from: readonly number[], edges: Edges): Set<number> => {
  const reached = new Set<number>();
  const left = [...from];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (reached.has(at)) continue;
    reached.add(at);
    const step = steps[at] as Step;
    if (step.kind === 'split') left.push(...step.to);
    else if ((step.kind === 'start' && edges.start) || (step.kind === 'end' && edges.end)) left.push(at + 1);
  }
  return reached;
};

const eats = (step: Step | undefined, code: number): boolean =>
  step?.kind === 'one' && step.ranges.some(([from, to]) => from <= code && code <= to);

/** Where the program is between two characters, and where it is after the next one; true: it matches. */
interface Place {
  at: readonly number[];
  after: Map<number, Place | true>;
}

const maxKept = 10_000;

/** Whether it matches somewhere in the text. */
export type Regex = (text: string) => boolean;

/** @throws {RegexError} */
export const regexOf = (expression: string): Regex => {
  const steps = compile(new Parser(expression).parse());
  const match = steps.length - 1;
  const places = new Map<string, Place>();
  let kept = 0;
  const placeOf = (at: number[]): Place => {
    const key = at.join();
    const place = places.get(key) ?? { at, after: new Map() };
    places.set(key, place);
    return place;
  };
  const go = (from: readonly number[], code: number | undefined, edges: Edges): Place | true => {
    const reached = reach(steps, [...from, 0], edges);
    if (reached.has(match)) return true;
    const eating = code === undefined ? [] : [...reached].filter((at) => eats(steps[at], code));
    return placeOf(eating.map((at) => at + 1).sort((a, b) => a - b));
  };
  const goInside = (from: Place, code: number): Place | true => {
    const known = from.after.get(code);
    if (known) return known;
    if (++kept > maxKept) {
      for (const { after } of places.values()) after.clear();
      places.clear();
      kept = 0;
    }
    const to = go(from.at, code, { start: false, end: false });
    from.after.set(code, to);
    return to;
  };
  return (text) => {
    const codes = Array.from(text, codeOf);
    let place = go([], codes[0], { start: true, end: codes.length === 0 });
    for (const code of codes.slice(1)) {
      if (place === true) return true;
      place = goInside(place, code);
    }
    return place === true || go(place.at, undefined, { start: false, end: true }) === true;
  };
};
