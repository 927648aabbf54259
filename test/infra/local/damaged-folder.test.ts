import { existsSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { keptSecret } from '#infra/local/aws/ssm/secrets.ts';
import { Database } from '#infra/local/host/database.ts';
import { reasonOf, StartError } from '#infra/local/host/errors.ts';
import { Folder, type Local } from '#infra/local/host/folder.ts';
import { temporaryFolder } from './support/functions.ts';

/** A platform never starts empty on the rest of another one's data; the message names the damage and the remedy. */

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
  mkdirSync(folder.at('s3'));
  const database = Database.open(folder.path);
  database.define('CREATE TABLE it (id)');
  database.close();
  keptSecret(folder.at('kms.key'));
  folder.publish({ token: 't' } as Local);
  return folder;
};

it('a complete folder opens', () => {
  expect(usedFolder().previous()).toEqual({ token: 't' });
  expect(new Folder(temporaryFolder()).previous()).toBeUndefined();
});

it.each([['data.sqlite'], ['s3'], ['kms.key']])('a folder that was used and has lost %s is refused', async (name) => {
  const folder = usedFolder();
  rmSync(folder.at(name), { recursive: true });
  const reason = await reasonFor(() => folder.previous());
  expect(reason).toContain(`${name} is missing`);
  expect(reason).toContain('stepform restore');
});

it.each([
  ['the database', (folder: Folder) => Database.open(folder.path), 'data.sqlite'],
  ['a key', (folder: Folder) => keptSecret(folder.at('kms.key')), 'kms.key'],
  ['local.json', (folder: Folder) => folder.previous(), 'local.json'],
  ['its format', (folder: Folder) => folder.previous(), 'data-folder.json'],
  ['the key of task tokens', (folder: Folder) => keptSecret(folder.at('token.key')), 'token.key'],
])('the error names the file if %s is damaged', async (_, open, file) => {
  const folder = usedFolder();
  writeFileSync(folder.at(file), '{ damaged '.repeat(1000));
  expect(await reasonFor(() => open(folder))).toContain(folder.at(file));
  // A power failure empties unflushed files. The database is tested below: SQLite accepts an empty file as a new one.
  writeFileSync(folder.at(file), '');
  if (file !== 'data.sqlite') expect(await reasonFor(() => open(folder))).toContain(folder.at(file));
});

it.each([
  ['emptied', (file: string) => truncateSync(file)],
  ['deleted', (file: string) => rmSync(file)],
])('tables that were %s are refused, instead of an empty platform', async (_, damage) => {
  const folder = usedFolder();
  folder.previous();
  expect(folder.marker?.used).toBe(true);
  const open = () => Database.open(folder.path, { isUsed: folder.marker?.used });
  open().close();
  damage(folder.at('data.sqlite'));
  expect(await reasonFor(open)).toMatch(/data\.sqlite is empty: .*stepform restore/);
});

it.each([
  [
    'a newer version',
    { format: 99 },
    /written by a newer version .*format 99; this version reads \d.*Start that version/,
  ],
  [
    'an earlier version',
    { format: 0 },
    /written by an earlier version .*format 0; this version reads \d.*stepform import/,
  ],
])('a folder of %s is refused with the remedy', async (_, marker, reason) => {
  const folder = usedFolder();
  writeFileSync(folder.at('data-folder.json'), JSON.stringify(marker));
  expect(await reasonFor(() => folder.previous())).toMatch(reason);
});

it('a folder of a version without formats is refused and stays unchanged', async () => {
  const folder = usedFolder();
  rmSync(folder.at('data-folder.json'));
  expect(await reasonFor(() => folder.previous())).toMatch(
    /written by an earlier version .*use the version that wrote/,
  );
  expect(existsSync(folder.at('data-folder.json'))).toBe(false);
});

it('the error for a file says that the data folder must be a folder', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(await reasonFor(() => new Folder(file))).toContain('STEPFORM_DATA must be a folder');
});

it('the error names a data folder below a file, and one that the system does not allow, at once', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(await reasonFor(() => new Folder(join(file, 'a', 'b')))).toContain(`${file} is not a folder`);
  // Linux reports there that the parent is missing, although it exists: Node's own recursion never ends.
  const reason = await reasonFor(() => new Folder('/proc/stepform/data'));
  expect(reason).toMatch(/the data folder \/proc\/stepform\/data cannot be used: .*Set STEPFORM_DATA to/);
});

it('missing parent folders are created for this user only', () => {
  const { path } = new Folder(join(temporaryFolder(), 'a', 'b'));
  for (const made of [path, dirname(path)]) expect(statSync(made).mode & 0o777).toBe(0o700);
});

it('the error names the data folder if the system’s message does not, and recognizes a full database', () => {
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
])('the error explains %s of %s if the user can fix it', (code, syscall, part) => {
  const reason = reasonOf(Object.assign(new Error(`${code}: it failed`), { code, syscall }));
  expect(reason).toEqual(part && expect.stringContaining(part));
  expect(reasonOf(new StartError('because'))).toBe('because');
});
