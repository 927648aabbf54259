import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, type Header, pack } from 'tar-stream';
import { afterAll, expect, it } from 'vitest';
import { zipOf } from '#environments/templates/zip.ts';
import { type Limits, type Part, repack } from '#version-control/repack.ts';
import { unzipped } from '#version-control/unzipped.ts';

/** Conversion of a forge's archive to a configuration. */

const folder = await mkdtemp(join(tmpdir(), 'repack-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

type Entry = [Partial<Header> & { name: string }, string?];

const tar = async (...entries: Entry[]): Promise<Buffer> => {
  const packing = pack();
  for (const [header, content = ''] of entries) packing.entry(header, content);
  packing.finalize();
  const parts: Buffer[] = [];
  for await (const part of packing as AsyncIterable<Buffer>) parts.push(part);
  return gzipSync(Buffer.concat(parts));
};

const small: Limits = { packedBytes: 100_000, unpackedBytes: 200_000, files: 5 };

const packed = async (parts: (Omit<Part, 'source'> & { content: Buffer })[], limits = small) => {
  const file = join(folder, 'out.tar.gz');
  const texts: (string | undefined)[] = [];
  const { size, sha256 } = await repack(
    async (add) => {
      for (const { content, ...part } of parts) texts.push(await add({ ...part, source: Readable.from([content]) }));
    },
    file,
    limits,
  );
  const bytes = await readFile(file);
  expect([size, sha256]).toEqual([bytes.length, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  const unpacking = extract();
  unpacking.end(gunzipSync(bytes));
  const entries: Record<string, string> = {};
  for await (const entry of unpacking) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    const { name, type, linkname, mode } = entry.header;
    entries[name] = type === 'symlink' ? `-> ${linkname}` : `${(mode ?? 0).toString(8)} ${Buffer.concat(chunks)}`;
  }
  return { entries, texts };
};

it('repacking moves the files out of their folder, with links and executable bits, and nothing else', async () => {
  const content = await tar(
    [{ name: 'top/', type: 'directory' }],
    [{ name: 'top/a.tf', mode: 0o600 }, 'a'],
    [{ name: 'top/run.sh', mode: 0o4777 }, 'b'],
    [{ name: 'top/m/link', type: 'symlink', linkname: '../a.tf' }],
    [{ name: 'top/null', type: 'character-device' }],
    [{ name: 'top/hard', type: 'link', linkname: '/etc/passwd' }],
  );
  const { entries } = await packed([{ content }]);
  expect(entries).toEqual({ 'a.tf': '644 a', 'run.sh': '755 b', 'm/link': '-> ../a.tf' });
});

it('repacking adds further parts below a folder, and returns a requested file as text', async () => {
  const { entries, texts } = await packed([
    { content: await tar([{ name: 'top/a' }, 'a'], [{ name: 'top/n/a' }, 'no']), read: 'a' },
    {
      content: await tar([{ name: 'x/b' }, 'b'], [{ name: 'x/up', type: 'symlink', linkname: '../a' }]),
      below: 'sub/',
    },
  ]);
  expect([entries, texts]).toEqual([
    { a: '644 a', 'n/a': '644 no', 'sub/b': '644 b', 'sub/up': '-> ../a' },
    ['a', undefined],
  ]);
});

const link = (linkname: string): Entry => [{ name: 'top/m/link', type: 'symlink', linkname }];
const noise = Buffer.from(Array.from({ length: 150_000 }, (_, i) => (i * 2654435761) >>> 13)).toString('latin1');

it.each<[string, Entry[], string]>([
  ['a link to an absolute path', [link('/etc/passwd')], 'leads out of it'],
  ['a link that leaves the archive', [link('../../x')], 'leads out of it'],
  ['a file beside the archive', [[{ name: 'top/../../x' }, '']], 'a path outside of it'],
  ['too many files', Array.from({ length: 6 }, (_, i): Entry => [{ name: `top/${i}` }, '']), 'more than 5 files'],
  ['too much when unpacked', [[{ name: 'top/zeros' }, '0'.repeat(300_000)]], 'unpacked'],
  ['too much of a file that is wanted as text', [[{ name: 'top/wanted' }, ' '.repeat(70_000)]], 'wanted has more than'],
])('repacking rejects %s', async (_, entries, words) => {
  await expect(packed([{ content: await tar(...entries), read: 'wanted' }])).rejects.toThrow(words);
});

it('the limits apply to all parts together', async () => {
  const three = await tar([{ name: 'top/a' }, ''], [{ name: 'top/b' }, ''], [{ name: 'top/c' }, '']);
  const parts = [{ content: three }, { content: three, below: 'sub/' }];
  await expect(packed(parts)).rejects.toThrow('more than 5 files');
});

it('repacking rejects too many packed bytes, and incomplete archives', async () => {
  const content = await tar([{ name: 'top/noise' }, noise]);
  await expect(packed([{ content }], { ...small, packedBytes: 1000 })).rejects.toThrow('The archive has more than');
  for (const broken of [content.subarray(0, -100), Buffer.from('no gzip'), gzipSync('no tar'.repeat(200))]) {
    await expect(
      packed([{ content: broken }], { ...small, packedBytes: 10_000_000, unpackedBytes: 10_000_000 }),
    ).rejects.toThrow('is damaged');
  }
});

it.each([
  ['without a folder of its own', ['main.tf', 'infra/a.tf']],
  ['with a folder around it', ['infra/main.tf', 'infra/infra/a.tf']],
])('a zip %s has the same files as a tar', async (_, names) => {
  const zip = zipOf(names.map((name) => ({ name, content: Buffer.from(`# ${name}`) })));
  const out = join(folder, 'from-zip.tar.gz');
  await repack(
    async (add) => add({ isTar: true, source: await unzipped(Readable.from([zip]), folder, ['main.tf', 'infra']) }),
    out,
  );
  const found: string[] = [];
  const unpacking = extract().on('entry', ({ name }, stream, next) => {
    found.push(name);
    stream.resume().on('end', next);
  });
  await new Promise<void>((resolve) => unpacking.on('finish', () => resolve()).end(gunzipSync(readFileSync(out))));
  expect(found).toEqual(['main.tf', 'infra/a.tf']);
  await expect.poll(() => readdirSync(folder).filter((name) => name.endsWith('.zip'))).toEqual([]);
});

/** A zip with one symbolic link: Unix's mode in the central directory's external attributes. */
const zipWithLink = (target: string): Buffer => {
  const zip = zipOf([{ name: 'link', content: Buffer.from(target) }]);
  const central = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
  zip.writeUInt32LE(0o120777 * 2 ** 16, central + 38);
  return zip;
};

const entriesOf = async (zip: Buffer) => {
  const out = join(folder, 'links.tar.gz');
  const source = () => unzipped(Readable.from([zip]), folder, ['link']);
  await repack(async (add) => add({ isTar: true, source: await source() }), out);
  const found: (string | null | undefined)[] = [];
  const unpacking = extract().on('entry', ({ linkname }, stream, next) => {
    found.push(linkname);
    stream.resume().on('end', next);
  });
  await new Promise<void>((resolve) => unpacking.on('finish', () => resolve()).end(gunzipSync(readFileSync(out))));
  return found;
};

it('links in a zip stay links, and their targets are not read without a limit', async () => {
  expect(await entriesOf(zipWithLink('main.tf'))).toEqual(['main.tf']);
  await expect(entriesOf(zipWithLink('../../etc/passwd'))).rejects.toThrow('leads out of it');
  await expect(entriesOf(zipWithLink('x'.repeat(5000)))).rejects.toThrow('a target of 5000 bytes');
});

it('a file that is no zip, or cut, is an error for users', async () => {
  const zip = zipOf([{ name: 'main.tf', content: Buffer.from('x'.repeat(1000)) }]);
  for (const content of [Buffer.from('no zip'), zip.subarray(0, zip.length / 2)]) {
    await expect(unzipped(Readable.from([content]), folder, [])).rejects.toThrow('not a complete zip');
  }
});
