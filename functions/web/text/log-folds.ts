import type { LogText } from './log-text.ts';

/** Lines of a log gathered by the resource they speak of: of hundreds, what became of each is seen at a glance. */

/** What speaks of one resource, wherever it stands in the log. */
export interface Fold {
  address: string;
  /** Indexes, rising. */
  lines: number[];
  /** Part of a plan: its first line says what it is. Else the last one says how far it came. */
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

  /** What has come since the last time is taken in. `open`: folds whose lines are all there. */
  rows(open: ReadonlySet<Fold>): FoldedRow[] {
    for (; this.#taken < this.#log.whole; this.#taken++) this.#take(this.#taken);
    const rows = this.#order.flatMap((one): FoldedRow[] => {
      if (typeof one === 'number') return [{ line: one }];
      if (one.lines.length === 1) return [{ line: one.lines[0] as number }];
      return open.has(one) ? [{ fold: one }, ...one.lines.map((line) => ({ line }))] : [{ fold: one }];
    });
    if (this.#log.length > this.#log.whole) rows.push({ line: this.#log.whole });
    return rows;
  }

  /** Where a line is folded away; undefined for one that stands by itself. */
  foldOf(line: number): Fold | undefined {
    return this.#ofLine.get(line);
  }
}
