import type { SQLInputValue } from 'node:sqlite';
import type { Database } from '#infra/local/host/database.ts';
import { packed, unpacked } from '#infra/local/host/packed.ts';
import { defineExecutions } from './catalog.ts';

/**
 * A line of an execution's journal: an event of its history, or (with id 0) a fact that only a restart needs. Only the
 * journal is stored: history, status and the point of resumption are derived from it.
 */
export interface Line {
  id: number;
  previous: number;
  /** Milliseconds since 1970. */
  at: number;
  type: string;
  /** The branch or Map item it belongs to; absent for the execution's own states. */
  lane?: string;
  /** Fields that GetExecutionHistory returns. */
  details?: Record<string, unknown>;
  /** Fields that it does not return. */
  note?: Record<string, unknown>;
}

/** The journals of all executions: in parts, and as one deflated text beside its entry once an execution has ended. */
export class Journals {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    db.define(
      'CREATE TABLE IF NOT EXISTS journals (arn TEXT NOT NULL, part INTEGER NOT NULL, lines TEXT NOT NULL, PRIMARY KEY (arn, part)) STRICT, WITHOUT ROWID',
    );
    defineExecutions(db);
  }

  /** Empty if there is none. */
  read(executionArn: string): Line[] {
    return this.#textOf(executionArn)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  }

  append(executionArn: string, lines: string): void {
    this.#write('INSERT INTO journals SELECT :arn, COALESCE(MAX(part), 0) + 1, :lines FROM journals WHERE arn = :arn', {
      arn: executionArn,
      lines,
    });
  }

  /** After the end of an execution: a fifth of the size. */
  compress(arn: string): void {
    const journal = packed(this.#textOf(arn));
    this.#db.write(() => {
      this.#write('UPDATE executions SET journal = :journal WHERE arn = :arn', { arn, journal });
      this.#write('DELETE FROM journals WHERE arn = :arn', { arn });
    });
  }

  remove(arn: string): void {
    this.#db.write(() => {
      this.#write('DELETE FROM journals WHERE arn = :arn', { arn });
      this.#write('UPDATE executions SET journal = NULL WHERE arn = :arn', { arn });
    });
  }

  /** Resolves when everything so far is on disk; rejects if it is lost. */
  async written(): Promise<void> {
    await this.#db.written();
  }

  /** Puts everything so far on disk. */
  commit(): void {
    this.#db.commit();
  }

  #write(sql: string, values: Record<string, SQLInputValue>): void {
    this.#db.writeOne(() => this.#db.statement(sql).run(values));
  }

  #textOf(arn: string): string {
    const journal = this.#db.statement('SELECT journal FROM executions WHERE arn = ?').get(arn)?.journal;
    const parts = this.#db.statement('SELECT lines FROM journals WHERE arn = ? ORDER BY part').all(arn);
    return [journal ? unpacked(journal as string | Uint8Array) : '', ...parts.map(({ lines }) => lines as string)].join(
      '',
    );
  }
}

/** Appends lines to one journal. Effects of a line wait for `Journals.written`. */
export class Journal {
  readonly #journals: Journals;
  readonly #executionArn: string;
  readonly #onFailure: (error: Error) => void;
  #pending = '';
  #failed: Error | undefined;

  /** @param onFailure called once, after a failed write: the lines on disk count, and this journal accepts no more */
  constructor(journals: Journals, executionArn: string, onFailure: (error: Error) => void) {
    this.#journals = journals;
    this.#executionArn = executionArn;
    this.#onFailure = onFailure;
  }

  /** Written at the next `flush`, or when the event loop is idle. */
  add(line: Line): void {
    if (this.#pending === '') setImmediate(() => this.#flushLater());
    this.#pending += `${JSON.stringify(line)}\n`;
  }

  /** After a failed write there are no more writes. */
  flush(): void {
    if (this.#failed) throw this.#failed;
    if (this.#pending === '') return;
    try {
      this.#journals.append(this.#executionArn, this.#pending);
    } catch (error) {
      this.#fail(error as Error);
      throw error;
    }
    this.#pending = '';
    this.#journals.written().catch((error: Error) => this.#fail(error));
  }

  #fail(error: Error): void {
    if (this.#failed) return;
    this.#failed = error;
    this.#onFailure(error);
  }

  #flushLater(): void {
    try {
      this.flush();
    } catch {
      // onFailure reports it.
    }
  }
}
