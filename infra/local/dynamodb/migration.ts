import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '../errors.ts';
import type { Item } from './attributes.ts';
import { type KeySchema, Table } from './table.ts';

/**
 * Tables that were written before there was SQLite here are in LevelDB, as dynalite keeps them. They are taken over once,
 * whole or not at all: the new file appears when everything is in it, and only then the old ones go.
 */

interface LevelTable {
  TableName: string;
  KeySchema: { AttributeName: string; KeyType: string }[];
}
type Done<T> = (error: Error | null, result?: T) => void;
interface Store {
  db: { open(): Promise<void>; close(): Promise<void> };
}
interface Page {
  Items: Item[];
  LastEvaluatedKey?: Item;
}

/** Indexes are made anew from the items (table.ts). */
export const migrateLevelDb = async (folder: string, file: string): Promise<void> => {
  const pointer = join(folder, 'CURRENT');
  if (!statSync(pointer, { throwIfNoEntry: false })?.isFile()) return;
  if (!existsSync(file)) {
    const part = `${file}.part`;
    try {
      await copyTables(folder, part);
    } catch (error) {
      throw new StartError(
        `the tables in ${folder} could not be converted, and are as they were: ${(error as Error).message}`,
      );
    }
    flush(part);
    renameSync(part, file);
    flush(folder);
  }
  const kept = basename(file);
  for (const name of readdirSync(folder))
    if (!name.startsWith(kept) && name !== 'CURRENT') rmSync(join(folder, name), { recursive: true });
  // The last to go: while it is there, this is not over.
  rmSync(pointer);
  keepFormerVersionsOut(pointer);
};

/** A former version would begin with empty tables: it cannot open a database whose pointer is a folder, and says so. */
const keepFormerVersionsOut = (pointer: string): void => {
  mkdirSync(pointer, { recursive: true });
  writeFileSync(
    join(pointer, 'README'),
    'The tables are in tables.sqlite since an upgrade. To go back to a version that keeps them in LevelDB, restore a backup that it made.\n',
  );
};

const flush = (path: string): void => {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

const copyTables = async (folder: string, part: string): Promise<void> => {
  rmSync(part, { force: true });
  const load = createRequire(import.meta.url);
  const { create } = load('dynalite/db') as { create(options: object): Store };
  const store = create({ path: folder, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const call = <T>(action: string, input: object): Promise<T> => {
    const perform = load(`dynalite/actions/${action}`) as (store: Store, input: object, done: Done<T>) => void;
    return new Promise((resolve, reject) =>
      perform(store, input, (error, result) => (error ? reject(error) : resolve(result as T))),
    );
  };
  // What cannot be opened would answer no call.
  await store.db.open();
  const db = new DatabaseSync(part);
  try {
    db.exec('BEGIN');
    const { TableNames } = await call<{ TableNames: string[] }>('listTables', {});
    for (const name of TableNames) {
      const { Table: table } = await call<{ Table: LevelTable }>('describeTable', { TableName: name });
      const copy = new Table(db, { name, keys: keysOf(table), indexes: [] });
      for (let start: Item | undefined, first = true; first || start; first = false) {
        const page: Page = await call('scan', { TableName: name, ExclusiveStartKey: start });
        for (const item of page.Items) copy.replace(undefined, item);
        start = page.LastEvaluatedKey;
      }
    }
    db.exec('COMMIT');
  } finally {
    db.close();
    await store.db.close();
  }
};

const keysOf = ({ KeySchema }: LevelTable): KeySchema => {
  const [hash, range] = ['HASH', 'RANGE'].map((type) => KeySchema.find(({ KeyType }) => KeyType === type));
  return { hash: hash?.AttributeName as string, range: range?.AttributeName };
};
