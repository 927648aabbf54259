import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArchiveError, unpack } from '#runner/program/workspace/unpack.ts';
import { archive } from '../support.ts';

const limits = { archiveBytes: 1_000_000, unpackedBytes: 4_000_000, files: 100 };

let outer: string;
let root: string;
beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), 'unpack-test-'));
  root = join(outer, 'root');
});
afterEach(() => rmSync(outer, { recursive: true, force: true }));

const unpacked = async (bytes: Buffer, within: Partial<typeof limits> = {}): Promise<number> => {
  const { mkdir } = await import('node:fs/promises');
  await mkdir(root, { mode: 0o700 });
  return unpack(Readable.from([bytes]), root, { ...limits, ...within });
};

const refused = async (bytes: Buffer, within: Partial<typeof limits> = {}): Promise<string> => {
  const error = await unpacked(bytes, within).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ArchiveError);
  return (error as Error).message;
};

const link = (linkname: string) => ({ type: 'symlink' as const, linkname });

describe('a valid archive', () => {
  it('is unpacked to files, directories and links with their modes', async () => {
    const count = await unpacked(
      await archive({
        './': { type: 'directory' },
        './main.tf': 'a',
        'modules/': { type: 'directory', mode: 0o755 },
        'empty/': { type: 'directory' },
        'modules/deep/er/x.tf': 'b',
        'run.sh': { mode: 0o4755, content: '#!/bin/sh' },
        'secret.tf': { mode: 0o444, content: 'c' },
        'modules/link': link('deep/er/../er/x.tf'),
        nowhere: link('modules/not-there'),
        same: { type: 'link', linkname: 'main.tf' },
      }),
    );
    expect(count).toBe(10);
    expect(statSync(join(root, 'empty')).isDirectory()).toBe(true);
    expect(readFileSync(join(root, 'modules/link'), 'utf8')).toBe('b');
    expect(readFileSync(join(root, 'same'), 'utf8')).toBe('a');
    expect(readlinkSync(join(root, 'nowhere'))).toBe('modules/not-there');
    expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o755);
    expect(statSync(join(root, 'main.tf')).mode & 0o111).toBe(0);
    expect(statSync(join(root, 'modules/deep')).mode & 0o777, 'a folder without an entry').toBe(0o700);
    expect(statSync(join(root, 'secret.tf')).mode & 0o200).toBe(0o200);
  });

  it('keeps large files whole', async () => {
    const large = randomBytes(1_500_000).toString('base64');
    await unpacked(await archive({ 'large.json': large }), { archiveBytes: 4_000_000 });
    expect(readFileSync(join(root, 'large.json'), 'utf8')).toBe(large);
  });

  it('uses the later of two entries with the same name', async () => {
    await unpacked(
      await archive([
        ['a.tf', 'first'],
        ['a.tf', 'second'],
        ['b', link('a.tf')],
        ['b', 'a file after all'],
        ['c.tf', 'a file first'],
        ['c.tf', link('a.tf')],
      ]),
    );
    expect(readFileSync(join(root, 'a.tf'), 'utf8')).toBe('second');
    expect(lstatSync(join(root, 'b')).isFile()).toBe(true);
    expect(lstatSync(join(root, 'c.tf')).isSymbolicLink()).toBe(true);
  });

  it('may be a tar without entries', async () => {
    expect(await unpacked(await archive({}))).toBe(0);
  });
});

describe('an archive that would write outside is rejected:', () => {
  it.each([
    ['an absolute name', { '/etc/cron.d/x': 'x' }],
    ['dots at the start', { '../x.tf': 'x' }],
    ['dots inside', { 'modules/../../x.tf': 'x' }],
    ['a directory', { '../x/': { type: 'directory' as const } }],
    ['a hard link’s target', { x: { type: 'link' as const, linkname: '../../etc/passwd' } }],
    ['an absolute hard link', { x: { type: 'link' as const, linkname: '/etc/passwd' } }],
  ])('by %s', async (_, entries) => {
    expect(await refused(await archive(entries))).toMatch(/which is outside of its directory: pack files/);
  });

  it.each([
    ['up', { x: link('../outside') }, 'x'],
    ['out and in again', { 'a.tf': 'a', x: link('../root/a.tf') }, 'x'],
    ['absolute', { x: link('/etc/passwd') }, 'x'],
    ['up from below', { 'a/b/x': link('../../../outside') }, 'a/b/x'],
    ['through another link', { 'a/b/up': link('..'), x: link('a/b/up/../..') }, 'x'],
    [
      'through a link that comes later',
      { x: link('y/../..'), y: link('a/b'), 'a/b/f': 'f', z: link('y/../../..') },
      'z',
    ],
    ['in a circle', { x: link('y'), y: link('x') }, 'x'],
  ])('by a link: %s', async (_, entries, name) => {
    expect(await refused(await archive(entries))).toContain(`the link "${name}" to`);
  });

  it('by writing through a link', async () => {
    const message = await refused(
      await archive([
        ['out', link('..')],
        ['out/x.tf', 'x'],
      ]),
    );
    expect(message).toContain('"out" both as a directory and as a file or link');
    const { existsSync } = await import('node:fs');
    expect(existsSync(join(outer, 'x.tf'))).toBe(false);
  });

  it('by a hard link to a link', async () => {
    const message = await refused(
      await archive([
        ['out', link('../outside')],
        ['x', { type: 'link', linkname: 'out' }],
      ]),
    );
    expect(message).toContain('the hard link "x" to "out", which is not a file in it');
  });

  it.each(['character-device', 'block-device', 'fifo'] as const)('by a %s', async (type) => {
    expect(await refused(await archive({ x: { type } }))).toContain(`"x", a ${type}: only files`);
  });
});

describe('an archive is rejected', () => {
  it('because it is not gzip', async () => {
    expect(await refused(Buffer.from('resource "x" "y" {}'))).toContain('is not gzip: upload a gzip-compressed tar');
    rmSync(root, { recursive: true });
    expect(await refused(Buffer.from([0x1f, 0, 0, 0]))).toContain('is not gzip');
    rmSync(root, { recursive: true });
    expect(await refused(Buffer.from([0, 0x8b, 0, 0]))).toContain('is not gzip');
  });
  it('because it is empty', async () => {
    expect(await refused(Buffer.alloc(0))).toContain('is empty');
    rmSync(root, { recursive: true });
    expect(await refused(Buffer.from([0x1f]))).toContain('is empty');
    rmSync(root, { recursive: true });
    expect(await refused(Buffer.from([0x1f, 0x8b]))).toContain('is cut short');
  });
  it('because it is gzip but not tar', async () => {
    expect(await refused(gzipSync(randomBytes(2000)))).toContain('is gzip but not tar');
    rmSync(root, { recursive: true });
    expect(await refused(gzipSync('short'))).toMatch(/cut short|not tar/);
  });
  it('because it is truncated', async () => {
    const whole = await archive({ 'main.tf': randomBytes(50_000).toString('hex') });
    expect(await refused(whole.subarray(0, whole.length / 2))).toContain('is cut short: upload it again');
  });
  it.each([
    ['a small file', 900_000],
    ['a large file', 3_000_000],
  ])('because its tar ends within %s', async (_, size) => {
    const tar = gunzipSync(await archive({ 'main.tf': 'a', 'x.bin': Buffer.alloc(size) }));
    const cut = gzipSync(tar.subarray(0, 1024 + 512 + size / 2));
    expect(await refused(cut)).toContain('is cut short: upload it again');
    rmSync(root, { recursive: true });
    expect(await refused(gzipSync(tar.subarray(0, 1024 + 512)))).toContain('is cut short');
  });
  it('because its content is damaged', async () => {
    const whole = await archive({ 'main.tf': randomBytes(50_000).toString('hex') });
    whole[whole.length - 6] = (whole[whole.length - 6] as number) ^ 0xff;
    expect(await refused(whole)).toMatch(/is damaged|cut short/);
  });
});

describe('an archive that is too large is rejected', () => {
  it('when packed', async () => {
    const bytes = await archive({ x: randomBytes(2_000_000).toString('hex') });
    expect(await refused(bytes, { unpackedBytes: 10_000_000 })).toContain('is larger than 0 MiB: leave out');
  });
  it('when unpacked, though tiny: a bomb', async () => {
    const bytes = await archive({ x: Buffer.alloc(40_000_000) });
    expect(bytes.length).toBeLessThan(50_000);
    expect(await refused(bytes)).toContain('unpacks to more than 3 MiB');
  });
  it('in number of files', async () => {
    const bytes = await archive({ 'a.tf': '', 'b.tf': '' });
    expect(await refused(bytes, { files: 1 })).toContain('has more than 1 entries');
    rmSync(root, { recursive: true });
    expect(await unpacked(bytes, { files: 2 })).toBe(2);
  });
});

it.each([900_000, 3_000_000])('a signal aborts unpacking within a file of %i bytes', async (size) => {
  const tar = gunzipSync(await archive({ 'x.bin': randomBytes(size) }));
  const begun = Promise.withResolvers<void>();
  // The rest of the file never arrives.
  const source = new Readable({ read: () => begun.resolve() });
  source.push(gzipSync(tar).subarray(0, size / 2));
  mkdirSync(root, { mode: 0o700 });
  const canceled = new AbortController();
  const unpacking = unpack(source, root, { ...limits, archiveBytes: 4_000_000 }, canceled.signal);
  await begun.promise;
  canceled.abort(new Error('canceled'));
  await expect(unpacking).rejects.toThrow('canceled');
  expect(source.destroyed).toBe(true);
});
