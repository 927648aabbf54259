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
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUp, restore } from '../../../infra/local/backup.ts';
import { Folder } from '../../../infra/local/folder.ts';
import { startOf } from '../../../infra/local/processes.ts';

let root: string;
const data = () => join(root, 'data');
const file = () => join(root, 'backup.tar.gz');
const secret = () => join(data(), 'keys', 'secret');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'backup-test-'));
  mkdirSync(join(data(), 'keys'), { recursive: true, mode: 0o700 });
  mkdirSync(join(data(), 'empty'));
  writeFileSync(join(data(), 'local.json'), '{}');
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
    // The lock is that of the moment, not of the data.
    expect(existsSync(join(data(), 'lock'))).toBe(false);
  });

  it.each([
    ['backup', [], /backup did nothing: .*backup\.tar\.gz cannot be written: E(NOSPC|FBIG)/],
    ['restore', ['--force'], /restore did nothing: .*E(NOSPC|FBIG)/],
  ])('of a %s, a full disk is named, and nothing is left', async (what, more, reason) => {
    writeFileSync(join(data(), 'large'), randomBytes(3_000_000));
    if (what === 'restore') await backUp(data(), file());
    const before = readdirSync(root);
    // A file that may not grow fails as on a full disk, once the signal is ignored.
    const command = `trap '' XFSZ; ulimit -f 1000; exec "$0" "$@"`;
    const args = [process.execPath, 'infra/local/backup-command.ts', what, file(), ...more];
    const options = { env: { ...process.env, STEPFORM_DATA: data() }, timeout: 20_000 };
    await expect(promisify(execFile)('bash', ['-c', command, ...args], options)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(reason),
    });
    expect(readdirSync(root)).toEqual(before);
    expect(readdirSync(data()).filter((name) => name.startsWith('lock'))).toEqual([]);
    expect(readFileSync(secret(), 'utf8')).toBe('first');
  });

  it('is refused while a platform uses the folder', async () => {
    await backUp(data(), file());
    const running = new Folder(data());
    await expect(backUp(data(), join(root, 'other'))).rejects.toThrow(/already runs on .*stop it/);
    await expect(restore(data(), file(), { force: true })).rejects.toThrow(/already runs on/);
    running.release();
    await backUp(data(), join(root, 'other'));
  });

  it('is refused while an orphaned runner is active', async () => {
    await backUp(data(), file());
    const process = { pid: globalThis.process.pid, startedAt: startOf(globalThis.process.pid) };
    mkdirSync(join(data(), 'tasks'));
    writeFileSync(join(data(), 'tasks', 'it.json'), JSON.stringify({ process }));
    await expect(backUp(data(), join(root, 'other'))).rejects.toThrow(
      /a runner is still at work .* let their runs end/,
    );
    await expect(restore(data(), file(), { force: true })).rejects.toThrow(`process ${process.pid}`);
    writeFileSync(join(data(), 'tasks', 'it.json'), JSON.stringify({ process: { ...process, startedAt: 'before' } }));
    await backUp(data(), join(root, 'other'));
  });

  it('overwrites nothing unless told to', async () => {
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
    truncateSync(file(), 400);
    await expect(restore(data(), file(), { force: true })).rejects.toThrow(/cannot be restored/);
    writeFileSync(file(), 'something else');
    await expect(restore(data(), file(), { force: true })).rejects.toThrow(/cannot be restored/);
    expect(readFileSync(secret(), 'utf8')).toBe('first');
    expect(existsSync(`${data()}.restoring`)).toBe(false);
  });

  it.each<[string, string[], RegExp]>([
    ['of something else', ['main.tf'], /not a backup/],
    ['that leads out of the folder', ['stepform-backup-1', '../escaped'], /outside/],
  ])('rejects %s', async (_, names, why) => {
    const archive = pack();
    for (const name of names) archive.entry({ name }, 'x');
    archive.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk as Buffer);
    writeFileSync(file(), gzipSync(Buffer.concat(chunks)));
    await expect(restore(join(root, 'new'), file())).rejects.toThrow(why);
    expect(existsSync(join(root, 'escaped'))).toBe(false);
    expect(existsSync(join(root, 'new'))).toBe(false);
  });

  it('accepts only a data folder, and a target outside of it', async () => {
    await expect(backUp(root, file())).rejects.toThrow('no data folder');
    await expect(backUp(data(), join(data(), 'backup'))).rejects.toThrow('outside');
  });
});
