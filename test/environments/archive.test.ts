import { crc32 } from 'node:zlib';
import { pack } from 'tar-stream';
import { expect, it } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { filesInTar, tarOf } from '#environments/templates/archive.ts';
import { filesInZip, zipOf } from '#environments/templates/zip.ts';

const files = [
  { name: 'main.tf', content: Buffer.from('resource "terraform_data" "a" {}\n') },
  { name: 'modules/é/x.tf', content: Buffer.from('') },
  { name: 'big.txt', content: Buffer.alloc(100_000, 'ab') },
];

const tarWith = async (...entries: Parameters<ReturnType<typeof pack>['entry']>[0][]): Promise<Buffer> => {
  const archive = pack();
  for (const entry of entries) archive.entry(entry, entry.type === undefined ? 'x' : '');
  archive.finalize();
  const parts: Buffer[] = [];
  for await (const part of archive) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

it('an archive keeps its content, as tar and as zip', async () => {
  expect(await filesInTar(tarOf(files))).toEqual(files);
  expect(await filesInZip(zipOf([...files, { name: 'folder/', content: Buffer.from('') }]))).toEqual(files);
  const tar = await tarWith({ name: 'folder', type: 'directory' }, { name: './folder/x' });
  expect(await filesInTar(tar)).toEqual([{ name: 'folder/x', content: Buffer.from('x') }]);
});

it('a zip archive has a checksum, a date and a mode for each file, and a directory', async () => {
  const zip = zipOf(files);
  const entries = [];
  for await (const entry of (await fromBufferPromise(zip)).eachEntry()) entries.push(entry);
  const common = { versionNeededToExtract: 20, generalPurposeBitFlag: 0x800, lastModFileDate: 0x21 };
  expect(entries).toMatchObject(
    files.map(({ content }) => ({
      ...common,
      crc32: crc32(content),
      externalFileAttributes: (0o100644 << 16) >>> 0,
    })),
  );
  const [size, start] = [zip.readUInt32LE(zip.length - 10), zip.readUInt32LE(zip.length - 6)];
  expect(start + size).toBe(zip.length - 22);
});

it.each([
  ['a path that leaves the archive', { name: '../x' }, 'paths must stay inside'],
  ['an absolute path', { name: '/etc/x' }, 'paths must stay inside'],
  ['a path with a drive', { name: 'C:x' }, 'paths must stay inside'],
  ['a path with a backslash', { name: '..\\x' }, 'paths must stay inside'],
  ['a symbolic link', { name: 'x', type: 'symlink' as const, linkname: '/etc/passwd' }, 'links are not allowed'],
  ['a hard link', { name: 'x', type: 'link' as const, linkname: '../y' }, 'links are not allowed'],
])('an archive is rejected with %s', async (_, entry, why) => {
  const detail = expect.stringContaining(`${entry.name}: ${why}`);
  await expect(tarWith(entry).then(filesInTar)).rejects.toMatchObject({ status: 400, detail });
});

it('a zip with paths outside of its folder, or other content, is rejected', async () => {
  await expect(filesInZip(zipOf([{ name: '../x', content: Buffer.from('x') }]))).rejects.toMatchObject({ status: 400 });
  await expect(filesInZip(Buffer.from('no zip at all'))).rejects.toThrow('The archive is not valid.');
});

it('an archive with too many files, or too much content, is rejected', async () => {
  const many = Array.from({ length: 10_001 }, (_, n) => ({ name: `${n}`, content: Buffer.alloc(0) }));
  const large = [{ name: 'x', content: Buffer.alloc(64 * 1024 * 1024 + 1) }];
  for (const [read, pack] of [
    [filesInZip, zipOf],
    [filesInTar, tarOf],
  ] as const) {
    const refusal = { detail: 'it is too large when unpacked' };
    await expect(read(pack(many))).rejects.toMatchObject(refusal);
    await expect(read(pack(large))).rejects.toMatchObject(refusal);
  }
});

it('a zip with a link, or with more content than declared, is rejected', async () => {
  const link = zipOf([{ name: 'x', content: Buffer.from('/etc/passwd') }]);
  link.writeUInt32LE((0o120666 << 16) >>> 0, link.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1')) + 38);
  await expect(filesInZip(link)).rejects.toMatchObject({ detail: 'x: links are not allowed' });
  const bomb = zipOf([{ name: 'x', content: Buffer.alloc(100_000) }]);
  bomb.writeUInt32LE(10, bomb.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1')) + 24);
  await expect(filesInZip(bomb)).rejects.toMatchObject({ status: 400 });
});
