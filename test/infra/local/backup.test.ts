import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { S3 } from '#infra/local/aws/s3/s3.ts';
import { keptSecret } from '#infra/local/aws/ssm/secrets.ts';
import { backUp } from '#infra/local/commands/backup.ts';
import { Database } from '#infra/local/host/database.ts';
import { Folder, type Local } from '#infra/local/host/folder.ts';
import { startOf } from '#infra/local/host/processes.ts';
import { restore } from '#infra/local/host/restore.ts';
import { dataFormat } from '#infra/settings/data-format.ts';

let root: string;
const properties = {
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
};
const open = () => {
  const database = Database.open(data());
  const table = new DynamoDb(database);
  table.ensureTable({ ref: 'T', properties });
  const s3 = new S3(database, join(data(), 's3'), () => {});
  s3.ensureBucket('b');
  return { database, table, s3 };
};
const put = (table: DynamoDb, pk: string) => table.handle('PutItem', { TableName: 'T', Item: { pk: { S: pk } } });
const rows = async (): Promise<string[]> => {
  const { database, table } = open();
  const { output } = await table.handle('Scan', { TableName: 'T' });
  database.close();
  return (output.Items as { pk: { S: string } }[]).map(({ pk }) => pk.S).sort();
};
const data = () => join(root, 'data');
/** Every other object is large enough for a file. */
const contentOf = (n: number): Buffer => Buffer.alloc(n % 2 ? 100_000 : 10, n);
const file = () => join(root, 'backup.tar.gz');
const secret = () => join(data(), 'keys', 'secret');

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'backup-test-'));
  mkdirSync(join(data(), 'keys'), { recursive: true, mode: 0o700 });
  mkdirSync(join(data(), 'empty'));
  const folder = new Folder(data());
  folder.previous();
  keptSecret(join(data(), 'kms.key'));
  const { database, table } = open();
  await put(table, 'first');
  database.close();
  folder.publish({ token: 't' } as Local);
  folder.release();
  writeFileSync(join(data(), 'nothing'), '');
  writeFileSync(join(data(), 'large'), Buffer.alloc(300_000, 'x'));
  writeFileSync(secret(), 'first', { mode: 0o600 });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const mode = (path: string) => statSync(path).mode & 0o777;

describe('a backup of the data folder', () => {
  it('is private and restores all data', async () => {
    await backUp(data(), file());
    expect(mode(file())).toBe(0o600);
    rmSync(data(), { recursive: true });
    await restore(data(), file());
    expect(readFileSync(secret(), 'utf8')).toBe('first');
    expect(mode(secret())).toBe(0o600);
    expect(readFileSync(join(data(), 'large'))).toHaveLength(300_000);
    expect(statSync(join(data(), 'nothing')).size).toBe(0);
    expect(statSync(join(data(), 'empty')).isDirectory()).toBe(true);
    expect(await rows()).toEqual(['first']);
    // The lock belongs to the running process, not to the data.
    expect(existsSync(join(data(), 'platform.lock'))).toBe(false);
  });

  it.each([
    ['backup', [], /backup changed nothing: .*backup\.tar\.gz cannot be written: E(NOSPC|FBIG)/],
    ['restore', ['--force'], /restore changed nothing: .*E(NOSPC|FBIG)/],
  ])('reports a full disk in a %s, and leaves no partial file', async (what, more, reason) => {
    writeFileSync(join(data(), 'large'), randomBytes(3_000_000));
    if (what === 'restore') await backUp(data(), file());
    const before = readdirSync(root);
    // With the signal ignored, a file size limit fails writes like a full disk.
    const command = `trap '' XFSZ; ulimit -f 1000; exec "$0" "$@"`;
    const args = [process.execPath, 'infra/local/commands/backup-command.ts', what, file(), ...more];
    const options = { env: { ...process.env, STEPFORM_DATA: data() }, timeout: 20_000 };
    await expect(promisify(execFile)('bash', ['-c', command, ...args], options)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(reason),
    });
    expect(readdirSync(root)).toEqual(before);
    new Folder(data()).release();
    expect(readFileSync(secret(), 'utf8')).toBe('first');
  });

  it('of a folder in use has a consistent table, and every object that its rows refer to', async () => {
    const running = new Folder(data());
    const { database, table, s3 } = open();
    mkdirSync(join(data(), 'tasks'));
    writeFileSync(join(data(), 'tasks', 'it.json'), '{}');
    // In /var/lib/stepform as a data folder.
    for (const name of ['devices', 'programs', 'users'])
      mkdirSync(join(data(), name, 'of-this-machine'), { recursive: true });
    // The platform's order: the object first.
    let [isOver, written] = [false, 0];
    const writer = (async () => {
      for (; !isOver; written++) {
        await s3.handle({ method: 'PUT', url: `/b/object-${written}`, headers: {}, body: [contentOf(written)] });
        await put(table, `object-${written}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    while (written < 50) await Promise.race([writer, new Promise((resolve) => setImmediate(resolve))]);
    const { at, inUse } = await backUp(data(), file());
    isOver = true;
    await writer;
    database.close();
    expect(inUse).toBe(true);
    await expect(restore(data(), file(), { force: true })).rejects.toThrow(/already runs on .*stop it/);
    running.release();
    await restore(data(), file(), { force: true });
    const named = (await rows()).filter((name) => name !== 'first');
    expect(named.length).toBeGreaterThanOrEqual(50);
    const copy = open();
    for (const name of named) {
      const { body } = await copy.s3.handle({ method: 'GET', url: `/b/${name}`, headers: {}, body: [] });
      const content = Buffer.isBuffer(body) ? body : await buffer(body);
      expect(content.equals(contentOf(Number(name.split('-')[1])))).toBe(true);
    }
    copy.database.close();
    // The first start after its restore ends the runs that were in progress; its records of runners are from another
    // time.
    const restored = new Folder(data());
    restored.previous();
    expect(restored.marker).toEqual({ format: dataFormat, used: true, recoverTo: at });
    restored.release();
    const left = ['tasks', 'devices', 'programs', 'users'].filter((name) => existsSync(join(data(), name)));
    expect(left).toEqual([]);
  });

  it('records that an orphaned runner used the folder, and a restore does not replace such a folder', async () => {
    expect(await backUp(data(), file())).toMatchObject({ inUse: false });
    const process = { pid: globalThis.process.pid, startedAt: startOf(globalThis.process.pid) };
    mkdirSync(join(data(), 'tasks'));
    writeFileSync(join(data(), 'tasks', 'it.json'), JSON.stringify({ process }));
    expect(await backUp(data(), join(root, 'other'))).toMatchObject({ inUse: true });
    await expect(restore(data(), file(), { force: true })).rejects.toThrow(
      new RegExp(`a runner is still running .*process ${process.pid}.* wait for the end of their runs`),
    );
    writeFileSync(join(data(), 'tasks', 'it.json'), JSON.stringify({ process: { ...process, startedAt: 'before' } }));
    expect(await backUp(data(), join(root, 'other'), { force: true })).toMatchObject({ inUse: false });
  });

  it('overwrites files only with --force', async () => {
    await backUp(data(), file());
    writeFileSync(secret(), 'second');
    await expect(backUp(data(), file())).rejects.toThrow('--force');
    await expect(restore(data(), file())).rejects.toThrow('--force');
    expect(readFileSync(secret(), 'utf8')).toBe('second');
    await restore(data(), file(), { force: true });
    expect(readFileSync(secret(), 'utf8')).toBe('first');
  });

  it('leaves the folder unchanged when it is damaged or not a backup', async () => {
    await backUp(data(), file());
    const whole = readFileSync(file());
    for (let bytes = 400; bytes < whole.length; bytes += 61) {
      writeFileSync(file(), whole.subarray(0, bytes));
      await expect(restore(data(), file(), { force: true })).rejects.toThrow(/cannot be restored/);
    }
    writeFileSync(file(), 'something else');
    await expect(restore(data(), file(), { force: true })).rejects.toThrow(/cannot be restored/);
    expect(readFileSync(secret(), 'utf8')).toBe('first');
    expect(existsSync(`${data()}.restoring`)).toBe(false);
  });

  it.each<[string, string[], RegExp]>([
    ['of something else', ['main.tf'], /not a stepform backup/],
    ['that leads out of the folder', ['stepform-backup', '../escaped'], /outside/],
  ])('rejects %s', async (_, names, why) => {
    const archive = pack();
    for (const name of names) archive.entry({ name }, JSON.stringify({ format: dataFormat }));
    archive.finalize();
    writeFileSync(file(), gzipSync(await buffer(archive)));
    await expect(restore(join(root, 'new'), file())).rejects.toThrow(why);
    expect(existsSync(join(root, 'escaped'))).toBe(false);
    expect(existsSync(join(root, 'new'))).toBe(false);
  });

  it.each([
    ['newer', 99, /a newer version of stepform made it .*format 99.*Restore it with that version/],
    ['older', 0, /an earlier version of stepform made it/],
  ])('of a %s data format is refused, with the remedy', async (_, format, why) => {
    const archive = pack();
    archive.entry({ name: 'stepform-backup' }, JSON.stringify({ format }));
    archive.finalize();
    writeFileSync(file(), gzipSync(await buffer(archive)));
    await expect(restore(join(root, 'new'), file())).rejects.toThrow(why);
  });

  it('accepts only a data folder, and a target outside of it', async () => {
    await expect(backUp(root, file())).rejects.toThrow('not a data folder');
    await expect(backUp(data(), join(data(), 'backup'))).rejects.toThrow('outside');
  });
});
