import { pack } from 'tar-stream';
import { expect, it } from 'vitest';
import { filesInTar, filesInZip, tarOf, zipOf } from '../../functions/environments/templates/archive.ts';

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

it('keeps what is in an archive, as tar and as zip', async () => {
  expect(await filesInTar(await tarOf(files))).toEqual(files);
  expect(filesInZip(zipOf(files))).toEqual(files);
});

it.each([
  ['a path that leaves the archive', { name: '../x' }],
  ['an absolute path', { name: '/etc/x' }],
  ['a symbolic link', { name: 'x', type: 'symlink' as const, linkname: '/etc/passwd' }],
  ['a hard link', { name: 'x', type: 'link' as const, linkname: '../y' }],
])('refuses %s', async (_, entry) => {
  await expect(tarWith(entry).then(filesInTar)).rejects.toMatchObject({ status: 400 });
});

it('refuses a zip that leaves its folder, and what is none', () => {
  expect(() => filesInZip(zipOf([{ name: '../x', content: Buffer.from('x') }]))).toThrow();
  expect(() => filesInZip(Buffer.from('no zip at all'))).toThrow('The archive is not valid.');
});
