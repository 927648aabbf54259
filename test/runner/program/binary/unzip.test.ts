import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unzipAll } from '#runner/program/binary/unzip.ts';
import { zip } from '../zip.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'unzip-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** @param mode the file's Unix mode, with its type */
const unpack = async (name: string, { mode = 0o100755, bytes = 100 } = {}): Promise<string[]> => {
  const archive = zip(name, Buffer.from('content'));
  archive.writeUInt32LE((mode << 16) >>> 0, archive.lastIndexOf('PK\u0001\u0002') + 38);
  writeFileSync(join(root, 'archive.zip'), archive);
  await unzipAll(join(root, 'archive.zip'), join(root, 'to'), { files: 10, bytes });
  return readdirSync(join(root, 'to'), { recursive: true }) as string[];
};

it('an archive is unpacked to files that are read-only for everyone', async () => {
  expect(await unpack('folder/program')).toEqual(['folder', 'folder/program']);
  const file = join(root, 'to/folder/program');
  expect(readFileSync(file, 'utf8')).toBe('content');
  expect(statSync(file).mode & 0o777).toBe(0o555);
});

it.each(['../outside', '/tmp/outside', 'a/../../outside', 'a/./b', 'a\\..\\b'])(
  'the name %s is rejected',
  async (name) => {
    await expect(unpack(name)).rejects.toThrow();
    expect(readdirSync(root)).not.toContain('outside');
  },
);

it('links, and more bytes than allowed, are rejected', async () => {
  await expect(unpack('link', { mode: 0o120777 })).rejects.toThrow('is not a regular file');
  await expect(unpack('program', { bytes: 6 })).rejects.toThrow('too large when unpacked');
});
