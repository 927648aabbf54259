import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { afterDamage, StartError } from './errors.ts';

/** The file in a data folder: tables, small objects, and journals of executions (decisions/0251). */
export const databaseFile = 'data.sqlite';

const busyMs = 5000;

/**
 * SQLite for all services of a data folder. Writes of one turn of the event loop share a transaction, so a service
 * answers a call only after `written`. Every answered write survives the end of this process, even a kill; there is no
 * fsync for each, so a power failure may lose the latest ones.
 */
export class Database {
  readonly #db: DatabaseSync;
  /** In memory nothing can be lost, and nothing waits. */
  readonly #sharesTransactions: boolean;
  readonly #statements = new Map<string, StatementSync>();
  #waiting: PromiseWithResolvers<void> | undefined;
  readonly #changed = new Set<string>();

  private constructor(db: DatabaseSync, sharesTransactions: boolean) {
    this.#db = db;
    this.#sharesTransactions = sharesTransactions;
  }

  static inMemory(): Database {
    return new Database(new DatabaseSync(':memory:'), false);
  }

  /**
   * @param folder exists
   * @param isUsed the tables must exist: creating them would give a new platform the rest of the previous one's data
   * @throws StartError if the file is damaged or was emptied
   */
  static open(folder: string, { isUsed = false } = {}): Database {
    const file = join(folder, databaseFile);
    try {
      // A backup by another process may lock it for a moment.
      const db = new DatabaseSync(file, { timeout: busyMs });
      // Deleted states and secrets are overwritten; otherwise they would stay in free parts of the file.
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;');
      if (isUsed && !hasTables(db)) throw new StartError(`${file} is empty: its tables were lost. ${afterDamage}`);
      return new Database(db, true);
    } catch (error) {
      if (!/not a database|malformed/.test((error as Error).message)) throw error;
      throw new StartError(`${file} is damaged (${(error as Error).message}). ${afterDamage}`);
    }
  }

  /** Changes the schema, at once. */
  define(sql: string): void {
    this.commit();
    this.#db.exec(sql);
  }

  /** Prepared once for each text. */
  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** `work` with one statement, which is atomic by itself; on disk after `written` or `commit`. */
  writeOne<T>(work: () => T): T {
    return this.#write(work);
  }

  /** All statements of `work` or none; on disk after `written` or `commit`. */
  write<T>(work: () => T): T {
    return this.#write(() => {
      this.statement('SAVEPOINT one').run();
      try {
        const result = work();
        this.statement('RELEASE one').run();
        return result;
      } catch (error) {
        // SQLite rolls everything back by itself when the disk is full.
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK TO one; RELEASE one');
        throw error;
      }
    });
  }

  #write<T>(work: () => T): T {
    const isFirst = !this.#db.isTransaction;
    if (isFirst) {
      this.statement('BEGIN IMMEDIATE').run();
      this.#waiting = Promise.withResolvers();
      // Its failure is for those who wait.
      this.#waiting.promise.catch(() => {});
      if (this.#sharesTransactions) setImmediate(() => this.#commitLater());
    }
    try {
      return work();
    } catch (error) {
      if (!this.#db.isTransaction) this.#end(error as Error);
      throw error;
    } finally {
      if (isFirst && !this.#sharesTransactions) this.commit();
    }
  }

  /** Notes a part of the data that this transaction changes, e.g. a partition. */
  change(part: string): void {
    this.#changed.add(part);
  }

  /** Whether writes to the part are not on disk yet. */
  isChanged(part: string): boolean {
    return this.#changed.has(part);
  }

  /** Resolves when all writes so far are on disk; undefined if they are. Rejects if they are lost. */
  written(): Promise<void> | undefined {
    return this.#waiting?.promise;
  }

  /** Puts all writes so far on disk; throws if they are lost. */
  commit(): void {
    if (!this.#db.isTransaction) return;
    try {
      this.statement('COMMIT').run();
      this.#end();
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#end(error as Error);
      throw error;
    }
  }

  /** Throws if no row can be written. */
  checkWrite(): void {
    this.define('CREATE TABLE IF NOT EXISTS health (id INTEGER PRIMARY KEY, at TEXT) STRICT');
    this.write(() => this.statement('INSERT OR REPLACE INTO health VALUES (1, datetime())').run());
    this.commit();
  }

  close(): void {
    this.commit();
    this.#db.close();
  }

  #commitLater(): void {
    try {
      if (this.#db.isOpen) this.commit();
    } catch {
      // Those who wait report it.
    }
  }

  #end(error?: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#changed.clear();
    if (error) waiting?.reject(error);
    else waiting?.resolve();
  }
}

const hasTables = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table'").get() !== undefined;
