import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { Database } from '#infra/local/host/database.ts';
import { packed, unpacked } from '#infra/local/host/packed.ts';
import { type Attribute, attributeOf, define, type Item, invalid, itemSize } from './attributes.ts';
import { noteBinary } from './binary.ts';

/**
 * One table in SQLite. Keys are text, which SQLite orders by UTF-8 bytes as DynamoDB does; items are stored in their
 * wire format, without the keys, which are columns.
 */

export interface KeySchema {
  hash: string;
  /** Undefined: no sort key. */
  range: string | undefined;
}

export interface Index {
  name: string;
  keys: KeySchema;
  /** Attributes that its entries contain besides the keys; undefined: all. */
  projected: string[] | undefined;
}

export interface TableDescription {
  name: string;
  keys: KeySchema;
  indexes: Index[];
}

export interface Row {
  /** Not shared with any other code. */
  item: Item;
  /** Bytes. */
  size: number;
}

/** Key columns of an item, and of an entry of an index. */
type Column = 'hash' | 'range' | 'item_hash' | 'item_range';

interface StoredRow extends Partial<Record<Column, string>> {
  item: string | Uint8Array;
  size: number;
}

/** Attributes that are columns. */
type Columns = ReadonlyMap<string, Column>;

/** A range of one partition, ordered by sort key. */
export interface Range {
  index?: Index;
  hash: string;
  /** Inclusive. */
  from?: string;
  to?: string;
  /** Exclusive. */
  above?: string;
  below?: string;
  /** The last key of the previous page; for an index with the item's own keys. */
  after?: string[];
  reverse?: boolean;
  limit?: number;
}

const rowOf = (row: StoredRow, columns: Columns): Row => {
  const text = unpacked(row.item);
  const item = JSON.parse(text) as Item;
  for (const [name, column] of columns) item[name] = { S: row[column] };
  return { item: noteBinary(item, text), size: row.size };
};

const storedText = (item: Item, columns: Columns): string => {
  const others: Item = {};
  for (const name in item) if (!columns.has(name)) define(others, name, item[name] as Attribute);
  return JSON.stringify(others);
};

const columnsOf = ({ hash, range }: KeySchema, [first, second]: [Column, Column]): [string, Column][] =>
  range === undefined
    ? [[hash, first]]
    : [
        [hash, first],
        [range, second],
      ];

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const textOf = (item: Item, name: string | undefined): string | undefined =>
  name === undefined ? '' : (attributeOf(item, name)?.S as string | undefined);

export class Table {
  readonly description: TableDescription;
  readonly #db: Database;
  readonly #items: string;
  readonly #columns: Columns;

  constructor(db: Database, description: TableDescription) {
    this.#db = db;
    this.description = description;
    this.#items = quoted(`items ${description.name}`);
    this.#columns = new Map(columnsOf(description.keys, ['hash', 'range']));
    db.define(
      `CREATE TABLE IF NOT EXISTS ${this.#items} (hash TEXT NOT NULL, range TEXT NOT NULL, item ANY NOT NULL, size INTEGER NOT NULL, UNIQUE (hash, range)) STRICT`,
    );
    for (const index of description.indexes) this.#ensureIndex(index);
  }

  /** All writes of `work` or none. */
  atomically<T>(work: () => T): T {
    return this.#db.write(work);
  }

  get(key: Item): Row | undefined {
    const row = this.#statement(`SELECT * FROM ${this.#items} WHERE hash = ? AND range = ?`).get(...this.#keyOf(key)) as
      | StoredRow
      | undefined;
    return row && rowOf(row, this.#columns);
  }

  /**
   * Replaces an item with another one or with nothing.
   * @returns write units, including those of indexes
   */
  replace(before: Row | undefined, after: Item | undefined): number {
    const size = after ? itemSize(after) : 0;
    if (size > maxItemSize) throw invalid('Item size has exceeded the maximum allowed size');
    const changes = this.description.indexes.map((index) => this.#indexChange(index, before?.item, after));
    const write = () => {
      this.#db.change((after ?? before?.item)?.[this.description.keys.hash]?.S as string);
      if (after) this.#put(after, size);
      else if (before)
        this.#statement(`DELETE FROM ${this.#items} WHERE hash = ? AND range = ?`).run(...this.#keyOf(before.item));
      for (const change of changes) change?.write();
    };
    if (changes.some(Boolean)) this.atomically(write);
    else this.#db.writeOne(write);
    return changes.reduce(
      (units, change) => units + (change?.units ?? 0),
      Math.max(1, writeUnits(before?.size ?? 0), writeUnits(size)),
    );
  }

  *query({ index, hash, from, to, above, below, after, reverse = false, limit }: Range): Generator<Row> {
    const parameters: SQLInputValue[] = [hash];
    const conditions = ['hash = ?'];
    const bound = (operator: string, value: string | undefined) => {
      if (value === undefined) return;
      conditions.push(`range ${operator} ?`);
      parameters.push(value);
    };
    bound('>=', from);
    bound('<=', to);
    bound('>', above);
    bound('<', below);
    const columns = index ? ['range', 'item_hash', 'item_range'] : ['range'];
    if (after) {
      conditions.push(`(${columns.join(', ')}) ${reverse ? '<' : '>'} (${columns.map(() => '?').join(', ')})`);
      parameters.push(...after);
    }
    const order = ['hash', ...columns].map((column) => `${column} ${reverse ? 'DESC' : 'ASC'}`).join(', ');
    const source = index ? this.#indexTable(index) : this.#items;
    yield* this.#rows(
      `SELECT * FROM ${source} WHERE ${conditions.join(' AND ')} ORDER BY ${order}${limit === undefined ? '' : ' LIMIT ?'}`,
      limit === undefined ? parameters : [...parameters, limit],
      index ? this.#indexColumns(index) : this.#columns,
    );
  }

  /** All items after the given key. */
  *scan(after: Item | undefined): Generator<Row> {
    const condition = after ? 'WHERE (hash, range) > (?, ?)' : '';
    yield* this.#rows(
      `SELECT * FROM ${this.#items} ${condition} ORDER BY hash, range`,
      after ? this.#keyOf(after) : [],
      this.#columns,
    );
  }

  *#rows(sql: string, parameters: SQLInputValue[], columns: Columns): Generator<Row> {
    for (const row of this.#statement(sql).iterate(...parameters)) {
      yield rowOf(row as unknown as StoredRow, columns);
    }
  }

  #put(item: Item, size: number): void {
    const text = storedText(item, this.#columns);
    noteBinary(item, text);
    this.#statement(
      `INSERT INTO ${this.#items} (hash, range, item, size) VALUES (?, ?, ?, ?)
       ON CONFLICT (hash, range) DO UPDATE SET item = excluded.item, size = excluded.size`,
    ).run(...this.#keyOf(item), packed(text), size);
  }

  #keyOf(item: Item): [string, string] {
    const { hash, range } = this.description.keys;
    return [textOf(item, hash) as string, textOf(item, range) as string];
  }

  #indexColumns({ keys }: Index): Columns {
    return new Map([
      ...columnsOf(keys, ['hash', 'range']),
      ...columnsOf(this.description.keys, ['item_hash', 'item_range']),
    ]);
  }

  #indexTable({ name }: Index): string {
    return quoted(`index ${this.description.name} ${name}`);
  }

  /** Fills a new index with the existing items. */
  #ensureIndex(index: Index): void {
    const table = `index ${this.description.name} ${index.name}`;
    if (this.#statement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table)) return;
    this.atomically(() => {
      this.#statement(
        `CREATE TABLE ${quoted(table)} (hash TEXT NOT NULL, range TEXT NOT NULL, item_hash TEXT NOT NULL, item_range TEXT NOT NULL, item ANY NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (hash, range, item_hash, item_range)) STRICT, WITHOUT ROWID`,
      ).run();
      for (const { item } of this.scan(undefined)) this.#indexChange(index, undefined, item)?.write();
    });
  }

  #indexChange(index: Index, before: Item | undefined, after: Item | undefined) {
    const { keys, projected } = index;
    // Most changes of an item leave its entry as it is.
    if (
      before &&
      after &&
      projected?.length === 0 &&
      [keys.hash, keys.range].every((name) => textOf(before, name) === textOf(after, name))
    )
      return undefined;
    const [old, fresh] = [this.#entryOf(index, before), this.#entryOf(index, after)];
    if (!old && !fresh) return undefined;
    const moves = old && fresh && old.key.some((part, i) => part !== fresh.key[i]);
    if (old && fresh && !moves && old.text === fresh.text) return undefined;
    const table = this.#indexTable(index);
    const units = moves ? old.units + fresh.units : Math.max(old?.units ?? 0, fresh?.units ?? 0);
    const write = () => {
      if (old && (moves || !fresh))
        this.#statement(`DELETE FROM ${table} WHERE hash = ? AND range = ? AND item_hash = ? AND item_range = ?`).run(
          ...old.key,
        );
      if (fresh)
        this.#statement(
          `INSERT OR REPLACE INTO ${table} (hash, range, item_hash, item_range, item, size) VALUES (?, ?, ?, ?, ?, ?)`,
        ).run(...fresh.key, packed(fresh.text), fresh.size);
    };
    return { units, write };
  }

  /** Undefined if the item is not in the index. */
  #entryOf(index: Index, item: Item | undefined) {
    const { keys, projected } = index;
    if (!item) return undefined;
    const [hash, range] = [textOf(item, keys.hash), textOf(item, keys.range)];
    if (hash === undefined || range === undefined) return undefined;
    const own = this.description.keys;
    const names = projected
      ? [own.hash, own.range, keys.hash, keys.range, ...projected].filter((name) => name !== undefined)
      : Object.keys(item);
    // In a fixed order, so that entries are comparable.
    const entry = Object.fromEntries(
      [...new Set(names)].sort().flatMap((name): [string, Attribute][] => {
        const value = attributeOf(item, name);
        return value ? [[name, value]] : [];
      }),
    );
    const size = itemSize(entry);
    return {
      key: [hash, range, ...this.#keyOf(item)],
      text: storedText(entry, this.#indexColumns(index)),
      size,
      units: writeUnits(size),
    };
  }

  #statement(sql: string): StatementSync {
    return this.#db.statement(sql);
  }
}

/** DynamoDB: constraints. */
const maxItemSize = 400 * 1024;

const writeUnits = (size: number): number => Math.ceil(size / 1024);

/** The first text after all texts with this prefix; undefined if there is none. */
export const endOfPrefix = (prefix: string): string | undefined => {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) as number;
    if (point >= 0x10ffff) continue;
    // Surrogates are not characters.
    return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
};
