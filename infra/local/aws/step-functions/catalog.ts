import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivately } from '../ssm/secrets.ts';
import { readJournal } from './journal.ts';

export type Status = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT';

/** The in-memory entry of every execution; its journal has the rest. Times in milliseconds since 1970. */
export interface Entry {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  /** Journal file, relative to the folder of journals. */
  file: string;
  status: Status;
  start: number;
  stop?: number;
  redriveCount: number;
  redriven?: number;
  /** Time of the last redrive. */
  redriveToken?: string;
  transitions: number;
  /** Number of history events when it stopped. */
  events: number;
}

export interface Retention {
  /** Executions that ended longer ago are dropped; AWS keeps them for 90 days. */
  ms: number;
  /** Beyond this number, the oldest are dropped. */
  count: number;
}

/**
 * The list of executions, newest last. If an execution's line is lost, its journal restores it. Every start and end
 * appends a line; the last line of an execution counts. The file is rewritten at the start if many of its lines no
 * longer count.
 */
export class Catalog {
  readonly #dir: string;
  readonly #file: string;
  readonly #retention: Retention;
  readonly #entries = new Map<string, Entry>();
  readonly #ended = new Set<string>();
  #nextByAge = 0;
  #torn = false;

  constructor(dir: string, retention: Retention) {
    this.#dir = dir;
    this.#file = join(dir, 'catalog.jsonl');
    this.#retention = retention;
    this.#load();
  }

  get(executionArn: string): Entry | undefined {
    return this.#entries.get(executionArn);
  }

  /** Ordered by their first start. */
  all(): Entry[] {
    return [...this.#entries.values()];
  }

  journalOf(entry: Entry): string {
    return join(this.#dir, 'journals', entry.file);
  }

  put(entry: Entry): void {
    this.#entries.set(entry.executionArn, entry);
    this.#append(entry);
    this.#note(entry);
  }

  remove(entry: Entry): void {
    this.#entries.delete(entry.executionArn);
    this.#ended.delete(entry.executionArn);
    rmSync(this.journalOf(entry), { force: true });
    this.#append({ executionArn: entry.executionArn, removed: true });
  }

  /** Forgets what retention does not cover: beyond its number with some slack, by age once a day. */
  prune(now: number): void {
    const { ms, count } = this.#retention;
    const over = this.#ended.size > count * 1.1;
    if (!over && now < this.#nextByAge) return;
    this.#nextByAge = now + 24 * 3600 * 1000;
    const ended = this.all().filter(({ executionArn }) => this.#ended.has(executionArn));
    ended.sort((a, b) => b.stop! - a.stop!);
    for (const [index, entry] of ended.entries()) {
      if (entry.stop! < now - ms || (over && index >= count)) this.remove(entry);
    }
  }

  /**
   * A power failure or a user can empty or shorten the file.
   * @returns whether a line was lost
   */
  #findLost(): boolean {
    const listed = new Set(this.all().map(({ file }) => file));
    const lost: Entry[] = [];
    for (const file of readdirSync(join(this.#dir, 'journals')).filter((name) => !listed.has(name))) {
      const lines = readJournal(join(this.#dir, 'journals', file));
      const entry = lines[0]?.note?.entry as Entry | undefined;
      const redriveCount = lines.filter(({ type }) => type === 'ExecutionRedriven').length;
      if (entry) lost.push({ ...entry, redriveCount });
    }
    for (const entry of lost.sort((a, b) => a.start - b.start)) this.#entries.set(entry.executionArn, entry);
    if (lost.length)
      console.error(`${this.#file} lacked ${lost.length} executions. They were found by their journals.`);
    return lost.length > 0;
  }

  /** Begins a new line if an earlier write may have failed halfway. */
  #append(line: object): void {
    const text = `${this.#torn ? '\n' : ''}${JSON.stringify(line)}\n`;
    this.#torn = true;
    appendFileSync(this.#file, text);
    this.#torn = false;
  }

  #note({ executionArn, status }: Entry): void {
    if (status === 'RUNNING') this.#ended.delete(executionArn);
    else this.#ended.add(executionArn);
  }

  #load(): void {
    let text = '';
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const lines = text.split('\n');
    let whole = lines.pop() === '';
    for (const line of lines) {
      try {
        const entry = JSON.parse(line) as Entry & { removed?: true };
        if (entry.removed) this.#entries.delete(entry.executionArn);
        else this.#entries.set(entry.executionArn, entry);
      } catch {
        whole = false;
      }
    }
    whole = !this.#findLost() && whole;
    for (const entry of this.#entries.values()) this.#note(entry);
    if (!whole || lines.length > 1000 + 2 * this.#entries.size) {
      writePrivately(
        this.#file,
        this.all()
          .map((entry) => `${JSON.stringify(entry)}\n`)
          .join(''),
      );
    }
  }
}
