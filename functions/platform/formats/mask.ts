/**
 * Removes sensitive values from a log. Terraform hides values that the configuration declares sensitive; this hides
 * values that only the workspace marks as sensitive, which Terraform prints like any other.
 *
 * It hides whole values, in all forms in which they are printed, also where Terraform wraps lines between words, and
 * each line of a multi-line value. It does not hide values of fewer than four bytes, `true`, `false` and `null` (which
 * would riddle every log), nor values that a configuration derives from them (a part, another encoding).
 */

import { isExactNumber } from './exact-json.ts';

/** Value of a variable or a parameter; `hcl`: it is an expression. */
interface Value {
  value: string;
  hcl?: boolean;
  sensitive: boolean;
}

const replacement = Buffer.from('(sensitive value)');
const shortest = 4;
const words = new Set(['true', 'false', 'null']);

const quoted = /"((?:[^"\\\n]|\\.)*)"/g;

/** Inside quotes, as Terraform and Go's `%q` write it. */
const quotedForm = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Inside a string of Go's JSON, which also escapes HTML's special characters. */
const jsonForm = (text: string): string =>
  quotedForm(text).replaceAll(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);

/** The content of an HCL string, as written and unescaped. */
const meanings = (literal: string): string[] => {
  try {
    return [literal, (JSON.parse(`"${literal}"`) as string).replaceAll(/([$%])\1\{/g, '$1{')];
  } catch {
    return [literal];
  }
};

/** The strings that reveal a value. */
const formsOf = ({ value, hcl }: Value): string[] => {
  const values = [value, ...(hcl ? [...value.matchAll(quoted)].flatMap((match) => meanings(match[1] as string)) : [])];
  return values.flatMap((secret) => {
    const lines = secret.includes('\n') ? secret.split(/\r?\n/).map((line) => line.trim()) : [];
    return [secret, ...lines].flatMap((text) => [text, quotedForm(text), jsonForm(text), jsonForm(quotedForm(text))]);
  });
};

export const secretsOf = (variables: Value[]): string[] =>
  variables.filter(({ sensitive }) => sensitive).flatMap(formsOf);

interface Span {
  start: number;
  end: number;
}

/** Characters between two words of a message that Terraform wraps: frame, colors and indentation. */
const breaks = new Set([...Buffer.from(' \t\r\n│')]);
const escapeByte = 0x1b;
const endOfColour = 'm'.charCodeAt(0);
const maxBreak = 64;

/** End of the break that begins here; otherwise `at` itself. */
const skipBreak = (data: Buffer, at: number): number => {
  let end = at;
  while (end < data.length && end - at < maxBreak) {
    if (data[end] === escapeByte) {
      const closed = data.indexOf(endOfColour, end);
      end = closed < 0 ? data.length : closed + 1;
    } else if (breaks.has(data[end] as number)) end++;
    else break;
  }
  return end;
};

/** A value as a list of its words. */
class Secret {
  readonly #words: Buffer[];
  /** Maximum number of bytes of a printed form. */
  readonly longest: number;

  constructor(text: string) {
    const words = text.split(/\s+/).filter(Boolean);
    this.#words = (words.length > 1 && words.length < 100 ? words : [text]).map((word) => Buffer.from(word));
    this.longest = Buffer.byteLength(text) + (this.#words.length - 1) * maxBreak;
  }

  get first(): Buffer {
    return this.#words[0] as Buffer;
  }

  /** The value's end if it occurs at `start`; `open` if it may continue after the end of the data. */
  matchAt(data: Buffer, start: number): number | 'open' | undefined {
    let at = start;
    for (const [i, word] of this.#words.entries()) {
      if (i > 0) {
        const next = skipBreak(data, at);
        if (next === data.length) return 'open';
        if (next === at) return undefined;
        at = next;
      }
      const candidate = data.subarray(at, at + word.length);
      if (!word.subarray(0, candidate.length).equals(candidate)) return undefined;
      if (candidate.length < word.length) return 'open';
      at += word.length;
    }
    return at;
  }
}

export class Mask {
  #secrets: Secret[] = [];
  #firstBytes = new Set<number>();
  readonly #texts = new Set<string>();
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: string[]) {
    this.add(secrets);
  }

  /** Adds values to hide from now on. */
  add(secrets: string[]): void {
    for (const secret of secrets) {
      if (Buffer.byteLength(secret) >= shortest && !words.has(secret) && secret.trim()) this.#texts.add(secret);
    }
    this.#secrets = [...this.#texts].map((text) => new Secret(text));
    this.#firstBytes = new Set(this.#secrets.map(({ first }) => first[0] as number));
  }

  /** Returns the bytes that can be shown; bytes that could begin a value are held back until more arrives. */
  push(bytes: Buffer): Buffer {
    if (this.#secrets.length === 0) return bytes;
    const data = this.#held.length ? Buffer.concat([this.#held, bytes]) : bytes;
    const spans = this.#find(data);
    let cut = this.#openEnd(data);
    for (const { start, end } of spans.toReversed()) if (start < cut && cut < end) cut = start;
    this.#held = Buffer.from(data.subarray(cut));
    return hide(data.subarray(0, cut), spans);
  }

  /** Returns the rest at the end of the input. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return hide(rest, this.#find(rest));
  }

  /** Masks a complete text. */
  text(text: string): string {
    const data = Buffer.from(text);
    const spans = this.#find(data);
    return spans.length ? hide(data, spans).toString('utf8') : text;
  }

  /** Masks every text in a JSON value except property names, which are its structure. */
  json<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (Array.isArray(value)) return value.map((item) => this.json(item)) as T;
    if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.json(item)])) as T;
  }

  /** Occurrences of values in order; overlapping ones are merged. */
  #find(data: Buffer): Span[] {
    const spans: Span[] = [];
    for (const secret of this.#secrets) {
      const { first } = secret;
      for (let at = data.indexOf(first); at >= 0; at = data.indexOf(first, at + 1)) {
        const end = secret.matchAt(data, at);
        if (typeof end === 'number') spans.push({ start: at, end });
      }
    }
    spans.sort((a, b) => a.start - b.start);
    const merged: Span[] = [];
    for (const span of spans) {
      const last = merged.at(-1);
      if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
      else merged.push({ ...span });
    }
    return merged;
  }

  /** Start of the longest tail that could become a value. */
  #openEnd(data: Buffer): number {
    const longest = Math.max(...this.#secrets.map((secret) => secret.longest));
    for (let at = Math.max(0, data.length - longest + 1); at < data.length; at++) {
      if (!this.#firstBytes.has(data[at] as number)) continue;
      if (this.#secrets.some((secret) => secret.matchAt(data, at) === 'open')) return at;
    }
    return data.length;
  }
}

const hide = (data: Buffer, spans: Span[]): Buffer => {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    if (start >= data.length) break;
    parts.push(data.subarray(at, start), replacement);
    at = end;
  }
  if (parts.length === 0) return data;
  parts.push(data.subarray(at));
  return Buffer.concat(parts);
};
