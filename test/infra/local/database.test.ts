import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Database, databaseFile } from '#infra/local/host/database.ts';
import { temporaryFolder } from './support/functions.ts';

const opened = (folder = temporaryFolder()) => {
  const database = Database.open(folder);
  onTestFinished(() => database.close());
  database.define('CREATE TABLE IF NOT EXISTS t (name TEXT NOT NULL UNIQUE) STRICT');
  const insert = (...names: string[]) =>
    database.write(() => names.map((name) => database.statement('INSERT INTO t VALUES (?)').run(name)));
  const names = () =>
    database
      .statement('SELECT name FROM t ORDER BY name')
      .all()
      .map(({ name }) => name);
  /** As another process would find it after a kill at this moment. */
  const onDisk = () => {
    const copy = temporaryFolder();
    cpSync(folder, copy, { recursive: true });
    return opened(copy).names();
  };
  return { database, insert, names, onDisk };
};

it('writes of one turn are on disk together, before their callers are answered', async () => {
  const { database, insert, onDisk } = opened();
  insert('a');
  insert('b');
  expect(onDisk()).toEqual([]);
  await database.written();
  expect(onDisk()).toEqual(['a', 'b']);
  expect(database.written()).toBeUndefined();
});

it('a write that fails leaves nothing of itself and everything of the others', async () => {
  const { database, insert, onDisk } = opened();
  insert('a');
  expect(() => insert('b', 'a')).toThrow('UNIQUE');
  insert('c');
  await database.written();
  expect(onDisk()).toEqual(['a', 'c']);
});

it('a lost transaction rejects each caller, and later writes succeed', async () => {
  const { database, insert, names, onDisk } = opened();
  insert('a');
  const first = database.written();
  // Like a full disk, which SQLite answers by a rollback.
  expect(() =>
    database.write(() => {
      database.statement('ROLLBACK').run();
      throw new Error('full');
    }),
  ).toThrow('full');
  await expect(first).rejects.toThrow('full');
  expect(names()).toEqual([]);
  insert('b');
  await database.written();
  expect(onDisk()).toEqual(['b']);
});

it('in memory each write is done at once', () => {
  const database = Database.inMemory();
  database.define('CREATE TABLE t (n INTEGER) STRICT');
  database.write(() => database.write(() => database.statement('INSERT INTO t VALUES (1)').run()));
  expect(database.written()).toBeUndefined();
  database.close();
});

it('deleted content is not in the file any more', async () => {
  const folder = temporaryFolder();
  const { database, insert } = opened(folder);
  // A row within a page, and one with pages of its own, which become free pages.
  const contents = [`short-${'s'.repeat(500)}`, `long-${'l'.repeat(100_000)}`];
  insert('kept', ...contents);
  database.commit();
  const isInFile = () => {
    database.statement('PRAGMA wal_checkpoint(TRUNCATE)').get();
    const file = readFileSync(join(folder, databaseFile));
    return ['kept', 'short-sss', 'long-lll', 'lllllll'].map((text) => file.includes(text));
  };
  expect(isInFile()).toEqual([true, true, true, true]);
  database.write(() => contents.map((name) => database.statement('DELETE FROM t WHERE name = ?').run(name)));
  database.commit();
  expect(isInFile()).toEqual([true, false, false, false]);
});
