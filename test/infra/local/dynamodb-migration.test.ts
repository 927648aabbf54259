import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DynamoDb } from '../../../infra/local/dynamodb.ts';
import { productTable } from '../../support/table.ts';
import { Dynalite } from './support/dynalite/dynalite.ts';
import { openStore } from './support/dynalite/store.ts';
import { temporaryFolder } from './support/functions.ts';

const count = 3000;
const itemOf = (n: number) => ({
  pk: { S: `P${n % 7}` },
  sk: { S: String(n) },
  content: { M: { n: { N: String(n) }, text: { S: 'é'.repeat(400) } } },
  ...(n % 10 === 0 ? { dueShard: { S: '0' }, dueAt: { S: `t${n}` } } : {}),
});

const inLevelDb = async (): Promise<string> => {
  const folder = temporaryFolder();
  const old = new Dynalite(folder);
  await old.ensureTable(productTable('Table'));
  for (let n = 0; n < count; n++) await old.handle('PutItem', { TableName: 'Table', Item: itemOf(n) });
  await old.close();
  return folder;
};

const open = async (folder: string): Promise<DynamoDb> => {
  const db = await DynamoDb.open(folder);
  db.ensureTable(productTable('Table'));
  return db;
};

const due = async (db: DynamoDb) => {
  const { output } = await db.handle('Query', {
    TableName: 'Table',
    IndexName: 'due',
    KeyConditionExpression: 'dueShard = :s',
    ExpressionAttributeValues: { ':s': { S: '0' } },
  });
  return output.Items;
};

it('converts the tables of LevelDB once, with their indexes', async () => {
  const folder = await inLevelDb();
  const db = await open(folder);
  for (let n = 0; n < count; n++) {
    const { pk, sk } = itemOf(n);
    expect((await db.handle('GetItem', { TableName: 'Table', Key: { pk, sk } })).output.Item).toEqual(itemOf(n));
  }
  expect(await due(db)).toHaveLength(count / 10);
  const { pk, sk } = itemOf(0);
  await db.handle('DeleteItem', { TableName: 'Table', Key: { pk, sk } });
  db.close();
  expect(readdirSync(folder).sort()).toEqual(['CURRENT', 'tables.sqlite']);
  const again = await open(folder);
  expect(await due(again)).toHaveLength(count / 10 - 1);
  again.close();
});

it('resumes after an interruption, before or after the new file was complete', async () => {
  const folder = await inLevelDb();
  writeFileSync(join(folder, 'tables.sqlite.part'), 'half of it');
  const db = await open(folder);
  expect(await due(db)).toHaveLength(count / 10);
  db.close();
  // As after a power cut right behind the renaming.
  rmSync(join(folder, 'CURRENT'), { recursive: true });
  writeFileSync(join(folder, 'CURRENT'), 'MANIFEST-000001\n');
  writeFileSync(join(folder, '000005.ldb'), '');
  const again = await open(folder);
  expect(await due(again)).toHaveLength(count / 10);
  again.close();
  expect(readdirSync(folder).sort()).toEqual(['CURRENT', 'tables.sqlite']);
});

it('cannot be opened afterwards by an older version, which would start with empty tables', async () => {
  const folder = await inLevelDb();
  (await open(folder)).close();
  const former = openStore(folder).db as unknown as { open(): Promise<void> };
  await expect(former.open()).rejects.toThrow('Database failed to open');
  const again = await open(folder);
  expect(await due(again)).toHaveLength(count / 10);
  again.close();
});

it('leaves unreadable tables untouched', async () => {
  const folder = await inLevelDb();
  const manifest = readdirSync(folder).find((name) => name.startsWith('MANIFEST'))!;
  writeFileSync(join(folder, manifest), 'damaged');
  await expect(DynamoDb.open(folder)).rejects.toMatchObject({
    name: 'StartError',
    message: expect.stringContaining('are as they were'),
  });
  expect(existsSync(join(folder, 'CURRENT'))).toBe(true);
  expect(existsSync(join(folder, 'tables.sqlite'))).toBe(false);
});
