import { ansi, type Piece, plain, type Style, stripAnsi } from '#platform/text/ansi.ts';
import { ResourceTimes } from '#platform/text/resource-times.ts';
import { linesOf, messageIn } from '#platform/text/terraform-json.ts';
import type { PhaseName } from '#run/run.ts';
import { type FoundResource, foundIn } from './query-results.ts';

const STX = 0x02;
const ETX = 0x03;
const newline = 0x0a;

/** Begins an error, but not the heading of the errors that follow. */
const firstLine = /^(?:[│|] ?)?Error: (?!.*encountered problems during initiali)/;
/** `terraform init` writes these without colors. */
const plainProblem = /^(Error: |Warning: )(.*)/;

const painted = (_: string, word: string, summary: string): string =>
  `\x1b[${word === 'Error: ' ? 31 : 33}m${word}\x1b[0m\x1b[1m${summary}\x1b[0m`;

interface Line {
  text: string;
  /** Style at the start of the line. */
  begin: Style;
  /** Milliseconds since 1970, from Terraform or on receipt; undefined when unknown. */
  at: number | undefined;
}

/**
 * Splits a log into lines as it grows: from its beginning, or from a place within it, before which lines are added
 * backwards. Cheap for hundreds of thousands of lines: styles are only parsed for lines on screen.
 */
export class LogText {
  readonly #phase: PhaseName;
  readonly #decoder = new TextDecoder();
  #lines: Line[] = [];
  #rest = '';
  #style: Style = plain;
  /** The end of a line whose beginning has not been read. */
  #torn: Uint8Array = new Uint8Array();
  /** Offset of the first byte that was read. */
  start: number;
  /** Offset after the last byte that was read, including the framing (HCP API: log-read-url). */
  offset: number;
  /** Where reading began; 0: at the log's beginning. */
  readonly begin: number;
  /** Number of lines before the first one that was read at first. */
  added = 0;
  /** The closing byte was read: the log is complete. */
  closed = false;
  /** Start and end times of operations. */
  readonly times = new ResourceTimes();
  /** Results of a query. */
  readonly found: FoundResource[] = [];
  /** Whether any line has a time. */
  hasTimes = false;
  /** Index of the first line that begins an error of Terraform. */
  firstError: number | undefined;

  /** @param begin where to begin to read: in a long log near its end */
  constructor(phase: PhaseName, begin = 0) {
    this.#phase = phase;
    this.start = begin;
    this.offset = begin;
    this.begin = begin;
  }

  /** Offset of the first line that was read as a whole. */
  get firstLineAt(): number {
    return this.start + this.#torn.length;
  }

  /** The bytes before `start`, once a line was read, or the end. */
  prepend(bytes: Uint8Array): void {
    this.start -= bytes.length;
    const read = new Uint8Array(bytes.length + this.#torn.length);
    read.set(bytes);
    read.set(this.#torn, bytes.length);
    // The line at the cut follows with the bytes before it.
    const cut = this.start === 0 ? 0 : read.indexOf(newline) + 1 || read.length;
    this.#torn = this.start === 0 ? new Uint8Array() : read.slice(0, cut);
    const part = new LogText(this.#phase);
    part.append(read.subarray(cut));
    const { length } = part.#lines;
    this.hasTimes ||= part.hasTimes;
    this.firstError = part.firstError ?? (this.firstError === undefined ? undefined : this.firstError + length);
    this.#lines = [...part.#lines, ...this.#lines];
    this.added += length;
  }

  /**
   * Times of operations and results of a query are collected from a log's beginning only: they need the whole log.
   * @param at when these bytes were written, if known: now, for output that arrives live
   * @returns whether the log has changed
   */
  append(bytes: Uint8Array, at?: number): boolean {
    if (bytes.length === 0 || this.closed) return false;
    const from = this.offset === 0 && bytes[0] === STX ? 1 : this.#tear(bytes);
    this.closed = bytes.at(-1) === ETX;
    this.offset += bytes.length;
    const text = this.#decoder.decode(bytes.subarray(from, this.closed ? -1 : undefined), { stream: !this.closed });
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.closed && this.#rest) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    for (const line of lines) this.#take(line.replace(/\r$/, ''), at);
    return true;
  }

  /** Keeps the end of the line in which reading began for {@link prepend}. @returns its length in these bytes */
  #tear(bytes: Uint8Array): number {
    const isInLine = this.begin > 0 && this.firstLineAt === this.offset && this.#torn.at(-1) !== newline;
    if (!isInLine) return 0;
    const length = bytes.indexOf(newline) + 1 || bytes.length;
    const torn = new Uint8Array(this.#torn.length + length);
    torn.set(this.#torn);
    torn.set(bytes.subarray(0, length), this.#torn.length);
    this.#torn = torn;
    return length;
  }

  #take(line: string, receivedAt: number | undefined): void {
    const message = messageIn(line);
    if (!message) {
      this.#push(line.replace(plainProblem, painted), receivedAt);
      return;
    }
    const saidAt = Date.parse(message['@timestamp'] ?? '');
    const at = Number.isNaN(saidAt) ? receivedAt : saidAt;
    if (this.begin === 0) {
      const result = foundIn(message);
      if (result) this.found.push(result);
      if (at !== undefined) this.times.take(message, at, this.#lines.length);
    }
    for (const shown of linesOf(message, this.#phase)) this.#push(shown, at);
  }

  #push(text: string, at: number | undefined): void {
    this.#lines.push({ text, begin: this.#style, at });
    if (at !== undefined) this.hasTimes = true;
    if (this.firstError === undefined && text.includes('Error: ') && firstLine.test(stripAnsi(text))) {
      this.firstError = this.#lines.length - 1;
    }
    if (text.includes('\x1b')) this.#style = ansi(text, this.#style).end;
  }

  /** Number of complete lines. */
  get whole(): number {
    return this.#lines.length;
  }

  /** Number of lines, including an incomplete last one. */
  get length(): number {
    return this.#lines.length + (this.#rest ? 1 : 0);
  }

  /**
   * From 1; from -1, the last line, upwards while lines before are not read; unknown while also lines follow.
   */
  numberOf(index: number): number | undefined {
    if (this.start === 0) return index + 1;
    return this.closed ? index - this.length : undefined;
  }

  /** Undefined if the line is not read, or not yet. @param number as {@link numberOf} counts */
  indexOf(number: number): number | undefined {
    const isKnown = number > 0 ? this.start === 0 : this.closed;
    const index = number > 0 ? number - 1 : this.length + number;
    return isKnown && index >= 0 && index < this.length ? index : undefined;
  }

  /** @param index from 0 */
  pieces(index: number): Piece[] {
    const line = this.#lines[index];
    return ansi(line?.text ?? this.#rest, line?.begin ?? this.#style).pieces;
  }

  /** Time of a line, in milliseconds since 1970; undefined when unknown. */
  at(index: number): number | undefined {
    return this.#lines[index]?.at;
  }

  /** Without colours. */
  bare(index: number): string {
    return stripAnsi(this.#lines[index]?.text ?? this.#rest);
  }

  /** Indexes of the lines that contain a text, ignoring case. */
  find(text: string): number[] {
    const needle = text.toLowerCase();
    const matches: number[] = [];
    if (needle) for (let i = 0; i < this.length; i++) if (this.bare(i).toLowerCase().includes(needle)) matches.push(i);
    return matches;
  }

  toString(): string {
    return Array.from({ length: this.length }, (_, i) => this.bare(i)).join('\n');
  }
}
