import { createRequire } from 'node:module';
import './dynamodb-expressions.ts';

/*
 * What dynalite's store lacks: an item and its index entries are written in one batch (a kill between two writes
 * would leave a run that the sweep never finds), iterators are closed when a query ends (it leaks one per query),
 * and the write units of indexes are counted.
 */
const load = createRequire(import.meta.url);

type Value = Record<string, unknown>;
type Attribute = Record<string, unknown>;
export type Item = Record<string, Attribute>;
type Done = (error?: Error | null) => void;

interface Operation {
  type: 'put' | 'del';
  key: string;
  value?: unknown;
}
interface SubStore {
  put(key: string, value: unknown, done: Done): void;
  del(key: string, done: Done): void;
}
interface Iterator {
  close(): Promise<void>;
  return?: () => Promise<void>;
}
interface Level {
  batch(operations: Operation[], done: Done): void;
  values(options: object): Iterator;
  close(): Promise<void>;
}
export interface Store {
  db: Level;
  getItemDb(table: string): SubStore;
  getTable: GetTable;
  /** Only of stores made by `forCall`: index entries waiting for their item, and request units of indexes. */
  call?: { operations: Operation[]; indexUnits: number };
}
type Found = (error: Error | null, table?: Table) => void;
type GetTable = (name: string, checkStatus: boolean | Found, found?: Found) => void;
interface Index {
  IndexName: string;
  KeySchema: { AttributeName: string }[];
  Projection: { ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; NonKeyAttributes?: string[] };
}
interface Table {
  TableName: string;
  GlobalSecondaryIndexes?: Index[];
}
interface Dynalite {
  create(options: object): Store;
  getIndexActions(
    indexes: Index[],
    before: Item | undefined,
    after: Item | undefined,
    table: Table,
  ): { puts: { index: string; key: string; item: Item }[]; deletes: { index: string; key: string }[] };
  updateIndexes(store: Store, table: Table, before: Item | undefined, after: Item | undefined, done: Done): void;
  itemSize(item: Item): number;
}

const dynalite = load('dynalite/db') as Dynalite;

dynalite.updateIndexes = (store, table, before, after, done) => {
  const { operations } = store.call!;
  for (const index of table.GlobalSecondaryIndexes ?? []) {
    const prefix = `index-global~${table.TableName}~${index.IndexName}~`;
    const was = projected(index, table, before);
    const { puts, deletes } = dynalite.getIndexActions([index], before, after, table);
    for (const { key } of deletes) operations.push({ type: 'del', key: prefix + key });
    if (deletes.length) store.call!.indexUnits += units(was);
    for (const { key, item } of puts) {
      if (was && !deletes.length && JSON.stringify(was) === JSON.stringify(projected(index, table, after))) continue;
      operations.push({ type: 'put', key: prefix + key, value: item });
      store.call!.indexUnits += Math.max(units(item), deletes.length ? 0 : units(was));
    }
  }
  done();
};

/** The index entry of an item, in a fixed order of attributes; undefined when it is not in the index. */
const projected = (index: Index, table: Table & { KeySchema?: Index['KeySchema'] }, item: Item | undefined) => {
  const keys = index.KeySchema.map((key) => key.AttributeName);
  if (!item || keys.some((key) => item[key] == null)) return undefined;
  const names =
    index.Projection.ProjectionType === 'ALL'
      ? Object.keys(item)
      : [
          ...keys,
          ...(table.KeySchema ?? []).map((key) => key.AttributeName),
          ...(index.Projection.NonKeyAttributes ?? []),
        ];
  return Object.fromEntries(
    [...new Set(names)].sort().flatMap((name) => (item[name] ? [[name, item[name]]] : [])),
  ) as Item;
};

const units = (item: Item | undefined): number => (item ? Math.ceil(dynalite.itemSize(item) / 1024) : 0);

export const openStore = (folder?: string): Store => {
  const store = dynalite.create({ path: folder, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const values = store.db.values.bind(store.db);
  // dynalite's streams call `return` when they end, which is the name generators have for it.
  store.db.values = (options) => {
    const iterator = values(options);
    iterator.return = () => iterator.close();
    return iterator;
  };
  return store;
};

/** A table's description, which dynalite would read from disk for each call. */
const tables = new WeakMap<Store, Map<string, Table>>();

const cachedTable =
  (store: Store): GetTable =>
  (name, checkStatus, found) => {
    const done = found ?? (checkStatus as Found);
    const known = tables.get(store) ?? new Map<string, Table>();
    tables.set(store, known);
    const table = known.get(name);
    if (table) return done(null, table);
    store.getTable(name, checkStatus === true, (error, read) => {
      if (read) known.set(name, read);
      done(error, read);
    });
  };

/** After tables were made, changed or removed. */
export const forgetTables = (store: Store): void => {
  tables.delete(store);
};

/** The store as one call on items sees it. */
export const forCall = (store: Store): Store & { call: NonNullable<Store['call']> } => {
  const call = { operations: [] as Operation[], indexUnits: 0 };
  return Object.assign(Object.create(store) as Store, {
    call,
    getTable: cachedTable(store),
    getItemDb: (table: string): SubStore => {
      const items = store.getItemDb(table);
      const write = (operation: Operation, done: Done) =>
        store.db.batch([...call.operations.splice(0), operation], done);
      return Object.assign(Object.create(items) as SubStore, {
        put: (key: string, value: Value, done: Done) =>
          write({ type: 'put', key: `item-${table}~${key}`, value }, done),
        del: (key: string, done: Done) => write({ type: 'del', key: `item-${table}~${key}` }, done),
      });
    },
  });
};
