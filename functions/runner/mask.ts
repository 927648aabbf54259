import type { JobVariable } from './protocol.ts';

/**
 * Takes sensitive values out of a log. Terraform hides what the configuration declares as sensitive; this is for values
 * that only the workspace marks so, which Terraform prints like any other.
 *
 * Hidden is a value as a whole, in the forms it is printed in, and each line of one with several. Not hidden are values
 * of fewer than four bytes, `true`, `false` and `null` (they would tear holes into every log), and what a configuration
 * makes of a value (a part of it, another encoding).
 */

const replacement = Buffer.from('(sensitive value)');
const shortest = 4;
const words = new Set(['true', 'false', 'null']);

const quoted = /"((?:[^"\\\n]|\\.)*)"/g;

/** Inside quotes, as Terraform and Go's `%q` write it. */
const quotedForm = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Inside a string of Go's JSON, which also escapes what HTML would read. */
const jsonForm = (text: string): string =>
  quotedForm(text).replaceAll(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);

/** The strings that give a value away. */
const formsOf = ({ value, hcl }: Pick<JobVariable, 'value' | 'hcl'>): string[] => {
  const values = [value, ...(hcl ? [...value.matchAll(quoted)].map((match) => match[1] as string) : [])];
  return values.flatMap((one) => {
    const lines = one.includes('\n') ? one.split(/\r?\n/).map((line) => line.trim()) : [];
    return [one, ...lines].flatMap((text) => [text, quotedForm(text), jsonForm(text), jsonForm(quotedForm(text))]);
  });
};

export const secretsOf = (variables: JobVariable[]): string[] =>
  variables.filter(({ sensitive }) => sensitive).flatMap(formsOf);

interface Span {
  start: number;
  end: number;
}

export class Mask {
  #secrets: Buffer[] = [];
  #firstBytes = new Set<number>();
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: string[]) {
    this.add(secrets);
  }

  /** Hides these as well, from now on. */
  add(secrets: string[]): void {
    const usable = secrets.filter((secret) => Buffer.byteLength(secret) >= shortest && !words.has(secret));
    const all = new Set([...this.#secrets.map(String), ...usable]);
    this.#secrets = [...all].map((secret) => Buffer.from(secret));
    this.#firstBytes = new Set(this.#secrets.map((secret) => secret[0] as number));
  }

  /** What may be shown by now: bytes that could be the beginning of a value are held until more is known. */
  push(bytes: Buffer): Buffer {
    if (this.#secrets.length === 0) return bytes;
    const data = this.#held.length ? Buffer.concat([this.#held, bytes]) : bytes;
    const spans = this.#find(data);
    let cut = this.#openEnd(data);
    for (const { start, end } of spans.toReversed()) if (start < cut && cut < end) cut = start;
    this.#held = Buffer.from(data.subarray(cut));
    return hide(data.subarray(0, cut), spans);
  }

  /** The rest; no more will come. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return hide(rest, this.#find(rest));
  }

  /** A text that is complete in itself. */
  text(text: string): string {
    const data = Buffer.from(text);
    return hide(data, this.#find(data)).toString('utf8');
  }

  /** Where values stand, overlapping ones as one, in order. */
  #find(data: Buffer): Span[] {
    const found: Span[] = [];
    for (const secret of this.#secrets) {
      for (let at = data.indexOf(secret); at >= 0; at = data.indexOf(secret, at + 1)) {
        found.push({ start: at, end: at + secret.length });
      }
    }
    found.sort((a, b) => a.start - b.start);
    const merged: Span[] = [];
    for (const span of found) {
      const last = merged.at(-1);
      if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
      else merged.push({ ...span });
    }
    return merged;
  }

  /** Begin of the longest tail that is a proper beginning of a value. */
  #openEnd(data: Buffer): number {
    const longest = Math.max(...this.#secrets.map(({ length }) => length));
    for (let at = Math.max(0, data.length - longest + 1); at < data.length; at++) {
      if (!this.#firstBytes.has(data[at] as number)) continue;
      const tail = data.subarray(at);
      if (this.#secrets.some((secret) => secret.length > tail.length && secret.subarray(0, tail.length).equals(tail))) {
        return at;
      }
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
