import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { DynamoDb } from '../../../infra/local/dynamodb.ts';
import { reasonOf, StartError } from '../../../infra/local/errors.ts';
import { Folder, type Local } from '../../../infra/local/folder.ts';
import { keptSecret } from '../../../infra/local/secrets.ts';
import { temporaryFolder } from './support/functions.ts';

/** A platform never starts empty on what is left of another one's data; the message names the damage and the remedy. */

const reasonFor = async (act: () => unknown): Promise<string | undefined> => {
  try {
    await act();
  } catch (error) {
    return reasonOf(error);
  }
  throw new Error('it succeeded');
};

const usedFolder = (): Folder => {
  const folder = new Folder(temporaryFolder());
  for (const name of ['dynamodb', 's3']) mkdirSync(folder.at(name));
  keptSecret(folder.at('kms.key'));
  folder.publish({ token: 't' } as Local);
  return folder;
};

it('opens a folder that has all it was used with', () => {
  expect(usedFolder().previous()).toEqual({ token: 't' });
  expect(new Folder(temporaryFolder()).previous()).toBeUndefined();
});

it.each([['dynamodb'], ['s3'], ['kms.key']])('refuses a folder that was used and has lost %s', async (name) => {
  const folder = usedFolder();
  rmSync(folder.at(name), { recursive: true });
  const reason = await reasonFor(() => folder.previous());
  expect(reason).toContain(`${name} is missing`);
  expect(reason).toContain('stepform restore');
});

it.each([
  ['a table', (folder: Folder) => DynamoDb.open(folder.at('dynamodb')), 'dynamodb/tables.sqlite'],
  ['a key', (folder: Folder) => keptSecret(folder.at('kms.key')), 'kms.key'],
  ['local.json', (folder: Folder) => folder.previous(), 'local.json'],
])('names the file when %s is damaged', async (_, open, file) => {
  const folder = usedFolder();
  writeFileSync(folder.at(file), '{ damaged '.repeat(1000));
  expect(await reasonFor(() => open(folder))).toContain(folder.at(file));
});

it('says that the data folder must be a folder', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(await reasonFor(() => new Folder(file))).toContain('STEPFORM_DATA must be a folder');
});

it('names a data folder below a file, and one that the system does not let be made, at once', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(await reasonFor(() => new Folder(join(file, 'a', 'b')))).toContain(`${file} is not a folder`);
  // Linux answers there that the folder above is missing, though it is not: Node's own recursion goes on for good.
  const reason = await reasonFor(() => new Folder('/proc/stepform/data'));
  expect(reason).toMatch(/the data folder \/proc\/stepform\/data cannot be used: .*Set STEPFORM_DATA to/);
});

it('makes all folders on the way, for this user alone', () => {
  const { path } = new Folder(join(temporaryFolder(), 'a', 'b'));
  for (const made of [path, dirname(path)]) expect(statSync(made).mode & 0o777).toBe(0o700);
});

it('names the data folder where the system does not, and knows a full database', () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
  expect(reasonOf(full, '/data')).toMatch(/^database or disk is full \(data folder \/data\)\. The disk is full: free/);
  const said = Object.assign(new Error("EROFS: read-only, open '/data/x'"), { code: 'EROFS' });
  expect(reasonOf(said, '/data')).toMatch(/^EROFS: read-only, open '\/data\/x'\. It is on a read-only disk/);
});

it.each([
  ['EACCES', 'mkdir', 'Give this user access'],
  ['ENOSPC', 'write', 'The disk is full'],
  ['EACCES', 'listen', undefined],
  ['EMFILE', 'open', undefined],
])('explains %s of %s where a person can mend it', (code, syscall, part) => {
  const reason = reasonOf(Object.assign(new Error(`${code}: it failed`), { code, syscall }));
  expect(reason).toEqual(part && expect.stringContaining(part));
  expect(reasonOf(new StartError('because'))).toBe('because');
});
