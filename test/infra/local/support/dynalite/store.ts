import { createRequire } from 'node:module';
import { undoAfterFile } from '#test/support/undo.ts';

/*
 * What dynalite's store lacks: the write units of indexes are counted, an entry that stays as it is costs nothing, and
 * iterators are closed when a query ends.
 */
const load = createRequire(import.meta.url);

type Attribute = Record<string, unknown>;
type Item = Record<string, Attribute>;
type Done = (error?: Error | null) => void;

interface Iterator {
  close(): Promise<void>;
  return?: () => Promise<void>;
}
interface Level {
  values(options: object): Iterator;
  close(): Promise<void>;
}
export interface Store {
  db: Level;
  /** Only of stores made by `forCall`. */
  call?: { indexUnits: number };
}
interface Index {
  KeySchema: { AttributeName: string }[];
  Projection: { ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; NonKeyAttributes?: string[] };
}
interface Table {
  KeySchema: { AttributeName: string }[];
  GlobalSecondaryIndexes?: Index[];
}
type Update = (store: Store, table: Table, before: Item | undefined, after: Item | undefined, done: Done) => void;
interface Dynalite {
  create(options: object): Store;
  updateIndexes: Update;
  itemSize(item: Item): number;
}

const dynalite = load('dynalite/db') as Dynalite;
const { updateIndexes } = dynalite;
undoAfterFile(() => {
  dynalite.updateIndexes = updateIndexes;
});

dynalite.updateIndexes = (store, table, before, after, done) => {
  for (const index of table.GlobalSecondaryIndexes ?? []) {
    const [old, fresh] = [projected(index, table, before), projected(index, table, after)];
    if (!store.call || JSON.stringify(old) === JSON.stringify(fresh)) continue;
    const moves =
      old && fresh && index.KeySchema.some(({ AttributeName }) => old[AttributeName]?.S !== fresh[AttributeName]?.S);
    store.call.indexUnits += moves ? units(old) + units(fresh) : Math.max(units(old), units(fresh));
  }
  updateIndexes(store, table, before, after, done);
};

/** The index entry of an item, in a fixed order of attributes; undefined when it is not in the index. */
const projected = (index: Index, table: Table, item: Item | undefined): Item | undefined => {
  const keys = index.KeySchema.map((key) => key.AttributeName);
  if (!item || keys.some((key) => item[key] === undefined)) return undefined;
  const names =
    index.Projection.ProjectionType === 'ALL'
      ? Object.keys(item)
      : [...keys, ...table.KeySchema.map((key) => key.AttributeName), ...(index.Projection.NonKeyAttributes ?? [])];
  return Object.fromEntries([...new Set(names)].sort().flatMap((name) => (item[name] ? [[name, item[name]]] : [])));
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

/** The store as one call sees it. */
export const forCall = (store: Store): Store & { call: NonNullable<Store['call']> } =>
  Object.assign(Object.create(store) as Store, { call: { indexUnits: 0 } });
