import type { Database } from '#infra/local/host/database.ts';

export type Status = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT';

/** The in-memory entry of every execution; its journal has the rest. Times in milliseconds since 1970. */
export interface Entry {
  executionArn: string;
  stateMachineArn: string;
  name: string;
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

/** One row for each execution: its entry, and its journal once it has ended (journal.ts). */
export const defineExecutions = (db: Database): void =>
  db.define(
    'CREATE TABLE IF NOT EXISTS executions (arn TEXT NOT NULL UNIQUE, entry TEXT NOT NULL, journal ANY) STRICT',
  );

/** The list of executions, newest last. */
export class Catalog {
  readonly #db: Database;
  readonly #retention: Retention;
  readonly #entries = new Map<string, Entry>();
  readonly #ended = new Set<string>();
  #nextByAge = 0;

  constructor(db: Database, retention: Retention) {
    this.#db = db;
    this.#retention = retention;
    defineExecutions(db);
    for (const row of db.statement('SELECT arn, entry FROM executions ORDER BY rowid').iterate()) {
      const entry = { ...JSON.parse(row.entry as string), executionArn: row.arn } as Entry;
      this.#entries.set(entry.executionArn, entry);
      this.#note(entry);
    }
  }

  get(executionArn: string): Entry | undefined {
    return this.#entries.get(executionArn);
  }

  /** Ordered by their first start. */
  all(): Entry[] {
    return [...this.#entries.values()];
  }

  /** On disk with the next commit. */
  put(entry: Entry): void {
    this.#entries.set(entry.executionArn, entry);
    const { executionArn, ...stored } = entry;
    this.#db.writeOne(() =>
      this.#db
        .statement(
          'INSERT INTO executions (arn, entry) VALUES (?, ?) ON CONFLICT (arn) DO UPDATE SET entry = excluded.entry',
        )
        .run(executionArn, JSON.stringify(stored)),
    );
    this.#note(entry);
  }

  remove({ executionArn }: Entry): void {
    this.#entries.delete(executionArn);
    this.#ended.delete(executionArn);
    this.#db.writeOne(() => this.#db.statement('DELETE FROM executions WHERE arn = ?').run(executionArn));
  }

  /**
   * Forgets what retention does not cover: beyond its number with some slack, by age once a day.
   * @returns the removed executions
   */
  prune(now: number): Entry[] {
    const { ms, count } = this.#retention;
    const over = this.#ended.size > count * 1.1;
    if (!over && now < this.#nextByAge) return [];
    this.#nextByAge = now + 24 * 3600 * 1000;
    const ended = this.all().filter(({ executionArn }) => this.#ended.has(executionArn));
    ended.sort((a, b) => b.stop! - a.stop!);
    const removed = ended.filter(({ stop }, index) => stop! < now - ms || (over && index >= count));
    for (const entry of removed) this.remove(entry);
    return removed;
  }

  #note({ executionArn, status }: Entry): void {
    if (status === 'RUNNING') this.#ended.delete(executionArn);
    else this.#ended.add(executionArn);
  }
}
