import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '../../functions/cli/archive.ts';
import { putObject } from '../../functions/store/bucket.ts';
import { objects } from '../../functions/store/keys.ts';
import type { ConfigurationVersion } from '../../functions/store/workspaces/configuration-versions.ts';
import { readReadme } from '../../functions/store/workspaces/readme.ts';
import { uniqueName } from '../support/api.ts';
import { type Storage, startStorage } from '../support/storage.ts';

let storage: Storage;
beforeAll(async () => {
  storage = await startStorage();
});
afterAll(() => storage.close());

const readIn = async (archive: Uint8Array, directory: string | null = null) => {
  const version = { id: uniqueName('cv'), status: 'uploaded' } as ConfigurationVersion;
  await putObject(objects.configuration(version.id), new Uint8Array(archive));
  return readReadme(version, directory);
};
const read = async (files: Record<string, string>, directory: string | null = null) =>
  readIn(await packFiles(files), directory);

const deep = `${'a-very-long-name/'.repeat(12)}live`;

it.each([
  ['of the root', { 'main.tf': 'x', 'README.md': '# Héllo' }, null, '# Héllo'],
  ['however it is spelled', { './Readme.MD': 'hi' }, null, 'hi'],
  ['of the working directory first', { 'README.md': 'root', 'live/eu/README.md': 'eu' }, 'live/eu', 'eu'],
  ['of the root, where the working directory has none', { 'live/main.tf': 'x', 'README.md': 'root' }, 'live', 'root'],
  ['with a long name', { [`${deep}/README.md`]: 'deep', 'README.md': 'root' }, deep, 'deep'],
  ['that is empty', { 'README.md': '' }, null, ''],
  ['of another directory is none', { 'modules/README.md': 'x' }, null, undefined],
  ['is none where there is none', { 'README.md.tf': 'x', 'README.txt': 'x' }, null, undefined],
])('finds the one %s', async (_, files, directory, expected) => {
  expect(await read(files as unknown as Record<string, string>, directory)).toBe(expected);
});

it('leaves out what is too long, and what lies too far behind', async () => {
  expect(await read({ 'README.md': 'x'.repeat(300_000) })).toHaveLength(256 * 1024);
  const large = randomBytes(6 * 1024 * 1024).toString('base64');
  expect(await read({ 'README.md': 'first', 'assets.txt': large })).toBe('first');
  expect(await read({ 'assets.txt': large + large, 'z/README.md': 'x' }, 'z')).toBeUndefined();
});

it.each([
  ['gzip of something else', gzipSync('not a tar, but longer than one block'.repeat(50))],
  ['half an archive', gzipSync(randomBytes(5000)).subarray(0, 2000)],
  ['what only begins as gzip', Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6])],
])('finds none in %s', async (_, archive) => {
  expect(await readIn(archive)).toBeUndefined();
});

it('does not unpack a bomb', async () => {
  const bomb = gzipSync(Buffer.concat([await headerOf('big.bin', 300 * 1024 * 1024), Buffer.alloc(300 * 1024 * 1024)]));
  expect(bomb.length).toBeLessThan(1024 * 1024);
  const before = process.memoryUsage().rss;
  expect(await readIn(bomb)).toBeUndefined();
  expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
});

/** The tar header of a file, without the file. */
const headerOf = async (name: string, size: number): Promise<Buffer> => {
  const { pack } = await import('tar-stream');
  const tar = pack();
  tar.entry({ name, size });
  for await (const chunk of tar) return chunk as Buffer;
  throw new Error('no header');
};
