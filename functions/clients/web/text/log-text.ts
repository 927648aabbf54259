import { ansi, type Piece, plain, type Style, stripAnsi } from '#platform/text/ansi.ts';
import { ResourceTimes } from '#platform/text/resource-times.ts';
import { linesOf, messageIn } from '#platform/text/terraform-json.ts';
import type { PhaseName } from '#run/run.ts';
import { type FoundResource, foundIn } from './query-results.ts';

const STX = 0x02;
const ETX = 0x03;

interface Line {
  text: string;
  /** Style at the start of the line. */
  begin: Style;
  /** Milliseconds since 1970, from Terraform or on receipt; undefined when unknown. */
  at: number | undefined;
}

/** Splits a growing log into lines. Cheap for hundreds of thousands of lines: styles are only parsed for lines on screen. */
export class LogText {
  readonly #phase: PhaseName;
  readonly #decoder = new TextDecoder();
  readonly #lines: Line[] = [];
  #rest = '';
  #style: Style = plain;
  /** Bytes read, including the framing: the offset of the next piece (HCP API: log-read-url). */
  offset = 0;
  /** The closing byte was read: the log is complete. */
  closed = false;
  /** Start and end times of operations. */
  readonly times = new ResourceTimes();
  /** Results of a query. */
  readonly found: FoundResource[] = [];
  /** Whether any line has a time. */
  hasTimes = false;

  constructor(phase: PhaseName) {
    this.#phase = phase;
  }

  /**
   * @param at when these bytes were written, if known: now, for output that arrives live
   * @returns whether the log has changed
   */
  append(bytes: Uint8Array, at?: number): boolean {
    if (bytes.length === 0 || this.closed) return false;
    const begin = this.offset === 0 && bytes[0] === STX ? 1 : 0;
    this.closed = bytes.at(-1) === ETX;
    this.offset += bytes.length;
    const text = this.#decoder.decode(bytes.subarray(begin, this.closed ? -1 : undefined), { stream: !this.closed });
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.closed && this.#rest) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    for (const line of lines) this.#take(line.replace(/\r$/, ''), at);
    return true;
  }

  #take(line: string, receivedAt: number | undefined): void {
    const message = messageIn(line);
    if (!message) {
      this.#push(line, receivedAt);
      return;
    }
    const saidAt = Date.parse(message['@timestamp'] ?? '');
    const at = Number.isNaN(saidAt) ? receivedAt : saidAt;
    const result = foundIn(message);
    if (result) this.found.push(result);
    if (at !== undefined) this.times.take(message, at, this.#lines.length);
    for (const shown of linesOf(message, this.#phase)) this.#push(shown, at);
  }

  #push(text: string, at: number | undefined): void {
    this.#lines.push({ text, begin: this.#style, at });
    if (at !== undefined) this.hasTimes = true;
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
