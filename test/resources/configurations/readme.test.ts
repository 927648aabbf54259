import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createGzip, gzipSync } from 'node:zlib';
import * as tar from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { findReadme, limits } from '#resources/configurations/readme.ts';

const readIn = async (archive: Uint8Array, directory: string | null = null) =>
  (await findReadme(Buffer.from(archive).subarray(0, limits.packedBytes), directory ?? ''))?.toString();
const read = async (files: Record<string, string>, directory: string | null = null) =>
  readIn(await packFiles(files), directory);

const deep = `${'a-very-long-name/'.repeat(12)}live`;

it.each([
  ['of the root', { 'main.tf': 'x', 'README.md': '# Héllo' }, null, '# Héllo'],
  ['in any spelling', { './Readme.MD': 'hi' }, null, 'hi'],
  ['of the working directory first', { 'README.md': 'root', 'live/eu/README.md': 'eu' }, 'live/eu', 'eu'],
  ['of the root, where the working directory has none', { 'live/main.tf': 'x', 'README.md': 'root' }, 'live', 'root'],
  ['with a long name', { [`${deep}/README.md`]: 'deep', 'README.md': 'root' }, deep, 'deep'],
  ['that is empty', { 'README.md': '' }, null, ''],
  ['of no other directory', { 'modules/README.md': 'x' }, null, undefined],
  ['only if there is one', { 'README.md.tf': 'x', 'README.txt': 'x' }, null, undefined],
])('the search finds the README %s', async (_, files, directory, expected) => {
  expect(await read(files as unknown as Record<string, string>, directory)).toBe(expected);
});

it('the search ignores files that are too long or too late in the archive', async () => {
  expect(await read({ 'README.md': 'x'.repeat(300_000) })).toHaveLength(256 * 1024);
  const large = randomBytes(6 * 1024 * 1024).toString('base64');
  expect(await read({ 'README.md': 'first', 'assets.txt': large })).toBe('first');
  expect(await read({ 'assets.txt': large + large, 'z/README.md': 'x' }, 'z')).toBeUndefined();
});

it.each([
  ['gzip of something else', gzipSync('not a tar, but longer than one block'.repeat(50))],
  ['half an archive', gzipSync(randomBytes(5000)).subarray(0, 2000)],
  ['what only begins as gzip', Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6])],
])('the search finds no README in %s', async (_, archive) => {
  expect(await readIn(archive)).toBeUndefined();
});

describe('the search stops', () => {
  const { pack } = tar;
  /** A gzip tar with entries of the given sizes, filled with zeros. */
  const bomb = async (entries: { name: string; size: number }[]): Promise<Buffer> => {
    const packing = pack();
    const zipped = packing.pipe(createGzip());
    const whole = buffer(zipped);
    for (const { name, size } of entries) {
      await new Promise<void>((resolve, reject) => {
        const entry = packing.entry({ name, size }, (error) => (error ? reject(error) : resolve()));
        for (let left = size; left > 0; left -= zeros.length)
          entry.write(zeros.subarray(0, Math.min(left, zeros.length)));
        entry.end(undefined);
      });
    }
    packing.finalize();
    return whole;
  };
  const zeros = Buffer.alloc(1024 * 1024);
  const large = 200 * zeros.length;

  it.each([
    [
      'in an entry of 200 MiB',
      [
        { name: 'a.bin', size: large },
        { name: 'readme.md', size: 1 },
      ],
    ],
    ['in a README of 200 MiB', [{ name: 'readme.md', size: large }]],
    ['at the 5000th entry', Array.from({ length: 20_000 }, (_, i) => ({ name: `a${i}`, size: 0 }))],
  ])('%s', async (_, entries) => {
    const archive = await bomb(entries);
    const before = process.memoryUsage().rss;
    const begin = process.cpuUsage();
    expect(await readIn(archive)).toBeUndefined();
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1000).toBeLessThan(2 * limits.milliseconds);
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
  });
});
