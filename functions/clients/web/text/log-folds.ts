import type { LogText } from './log-text.ts';

/** Groups the lines of a log by resource, so that the result of each of hundreds is visible at a glance. */

/** All lines about one resource, wherever they are in the log. */
export interface Fold {
  address: string;
  /** Line indexes, ascending. */
  lines: number[];
  /** Part of a plan, summarized by its first line. Others are summarized by their last line, the latest progress. */
  block: boolean;
}

export type FoldedRow = { line: number } | { fold: Fold };

const step = String.raw`[A-Za-z_][\w-]*(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?`;
const address = String.raw`(?:module\.${step}\.)*(?:data\.)?[A-Za-z_][\w-]*\.${step}`;
/** `aws_vpc.main: Creating...`, `aws_vpc.main (local-exec): hello` */
const spoken = new RegExp(String.raw`^(${address})(?: \([^)]*\))?: `);
/** `  # aws_vpc.main will be created` */
const planned = new RegExp(String.raw`^  # (${address}) (?:will|must|has|is)\b`);
const blockEnd = '    }';

export class LogFolds {
  readonly #log: LogText;
  readonly #order: (number | Fold)[] = [];
  readonly #spoken = new Map<string, Fold>();
  readonly #ofLine = new Map<number, Fold>();
  #block: Fold | undefined;
  #taken = 0;

  constructor(log: LogText) {
    this.#log = log;
  }

  #add(fold: Fold, index: number): void {
    fold.lines.push(index);
    this.#ofLine.set(index, fold);
  }

  #begin(name: string, index: number, block: boolean): Fold {
    const fold: Fold = { address: name, lines: [], block };
    this.#order.push(fold);
    this.#add(fold, index);
    return fold;
  }

  #take(index: number): void {
    const text = this.#log.bare(index);
    if (this.#block) {
      this.#add(this.#block, index);
      if (text === blockEnd) this.#block = undefined;
      return;
    }
    const [, change] = planned.exec(text) ?? [];
    if (change) {
      this.#block = this.#begin(change, index, true);
      return;
    }
    const [, speaker] = spoken.exec(text) ?? [];
    const fold = speaker === undefined ? undefined : this.#spoken.get(speaker);
    if (fold) this.#add(fold, index);
    else if (speaker) this.#spoken.set(speaker, this.#begin(speaker, index, false));
    else this.#order.push(index);
  }

  /** Reads new lines first. `open`: unfolded groups, whose lines are all listed. */
  rows(open: ReadonlySet<Fold>): FoldedRow[] {
    for (; this.#taken < this.#log.whole; this.#taken++) this.#take(this.#taken);
    const rows = this.#order.flatMap((item): FoldedRow[] => {
      if (typeof item === 'number') return [{ line: item }];
      if (item.lines.length === 1) return [{ line: item.lines[0] as number }];
      return open.has(item) ? [{ fold: item }, ...item.lines.map((line) => ({ line }))] : [{ fold: item }];
    });
    if (this.#log.length > this.#log.whole) rows.push({ line: this.#log.whole });
    return rows;
  }

  /** The group of a line; undefined for a line of its own. */
  foldOf(line: number): Fold | undefined {
    return this.#ofLine.get(line);
  }
}
