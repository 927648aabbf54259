import { createHash } from 'node:crypto';
import { readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ObjectCreated, S3 } from '#infra/local/aws/s3/s3.ts';
import { Database } from '#infra/local/host/database.ts';
import { temporaryFolder } from './support/functions.ts';

let folder: string;
let database: Database;
let s3: S3;
let created: ObjectCreated[];
const openS3 = () => {
  database = Database.open(folder);
  s3 = new S3(database, join(folder, 's3'), (object) => created.push(object));
  s3.ensureBucket('bucket');
};
afterEach(() => database.close());
/** Files of large objects. */
const files = () => readdirSync(join(folder, 's3')).map((name) => join(folder, 's3', name));
const big = (text: string) => text.repeat(100_000);
beforeEach(() => {
  folder = temporaryFolder();
  created = [];
  openS3();
});

const call = async (
  method: string,
  url: string,
  headers: Record<string, string> = {},
  content: string | Buffer = '',
) => {
  const reply = await s3.handle({ method, url, headers, body: [Buffer.from(content)] });
  return { ...reply, text: (await buffer(Readable.from(reply.body))).toString() };
};
const refusal = (...request: Parameters<typeof call>) =>
  call(...request).then(
    ({ status }) => `answered ${status}`,
    ({ name, statusCode }) => `${statusCode} ${name}`,
  );
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

it('S3 keeps content and headers through a restart, and announces the object', async () => {
  const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip', 'x-amz-date': 'now' };
  await call('PUT', '/bucket/a/b%20c%3D', headers, 'hello');
  expect(created).toMatchObject([{ bucket: 'bucket', key: 'a/b c=', size: 5, etag: md5('hello') }]);
  database.close();
  openS3();
  const { text, status, headers: answered } = await call('GET', '/bucket/a/b%20c%3D');
  expect([status, text]).toEqual([200, 'hello']);
  expect(answered).toMatchObject({
    'content-type': 'text/plain',
    'content-encoding': 'gzip',
    'content-length': '5',
    etag: `"${md5('hello')}"`,
  });
  expect((await call('GET', '/bucket/a/b%20c%3D', { 'if-none-match': `"${md5('hello')}"` })).status).toBe(304);
});

it('S3 answers a read, and nothing else, with the encoding that its address names', async () => {
  await call('PUT', '/bucket/a', { 'content-encoding': 'br' }, 'hello');
  const url = '/bucket/a?response-content-encoding=gzip';
  expect((await call('GET', url)).headers).toMatchObject({ 'content-encoding': 'gzip' });
  expect((await call('GET', '/bucket/a')).headers).toMatchObject({ 'content-encoding': 'br' });
  expect([await refusal('HEAD', url), await refusal('PUT', url)]).toEqual(['501 NotImplemented', '501 NotImplemented']);
});

it('S3 lets an object and a folder have the same name', async () => {
  for (const key of ['a', 'a/b', 'a=', 'a/b/c']) await call('PUT', `/bucket/${encodeURIComponent(key)}`, {}, key);
  for (const key of ['a', 'a/b', 'a=', 'a/b/c']) expect((await call('GET', `/bucket/${key}`)).text).toBe(key);
});

it.each([
  ['bytes=1-3', 206, 'ell', 'bytes 1-3/5'],
  ['bytes=3-100', 206, 'lo', 'bytes 3-4/5'],
  ['bytes=4-', 206, 'o', 'bytes 4-4/5'],
  ['bytes=-2', 206, 'lo', 'bytes 3-4/5'],
  ['bytes=-9', 206, 'hello', 'bytes 0-4/5'],
  ['bytes=3-1', 200, 'hello', undefined],
  ['lines=1-2', 200, 'hello', undefined],
])('S3 reads the range %s', async (range, status, text, contentRange) => {
  await call('PUT', '/bucket/k', {}, 'hello');
  const part = await call('GET', '/bucket/k', { range });
  expect([part.status, part.text, part.headers['content-range']]).toEqual([status, text, contentRange]);
});

it('S3 refuses a range of an empty object', async () => {
  await call('PUT', '/bucket/k', {}, '');
  await call('PUT', '/bucket/five', {}, 'hello');
  expect(await refusal('GET', '/bucket/k', { range: 'bytes=0-' })).toBe('416 InvalidRange');
  expect(await refusal('GET', '/bucket/five', { range: 'bytes=5-9' })).toBe('416 InvalidRange');
  expect(await refusal('GET', '/bucket/five', { range: 'bytes=-0' })).toBe('416 InvalidRange');
});

const crc = Buffer.alloc(4);
crc.writeUInt32BE(crc32('right'));
it.each([
  ['content-md5', createHash('md5').update('right').digest('base64'), 'BadDigest'],
  ['x-amz-checksum-sha256', sha256('right'), 'BadDigest'],
  ['x-amz-checksum-crc32', crc.toString('base64'), 'BadDigest'],
  ['x-amz-content-sha256', createHash('sha256').update('right').digest('hex'), 'XAmzContentSHA256Mismatch'],
])('S3 compares the content with %s', async (header, digest, code) => {
  expect(await refusal('PUT', '/bucket/k', { [header]: digest }, 'right')).toBe('answered 200');
  expect(await refusal('PUT', '/bucket/k', { [header]: digest }, 'wrong')).toBe(`400 ${code}`);
  expect((await call('GET', '/bucket/k')).text).toBe('right');
});

it('S3 keeps a large object in a file, which goes with the object', async () => {
  await call('PUT', '/bucket/k', {}, big('a'));
  expect(files()).toHaveLength(1);
  expect(await refusal('PUT', '/bucket/k', { 'content-md5': 'wrong' }, big('b'))).toBe('400 BadDigest');
  expect(await refusal('PUT', '/bucket/k', { 'if-none-match': '*' }, big('b'))).toBe('412 PreconditionFailed');
  expect(files()).toHaveLength(1);
  const former = await s3.handle({ method: 'GET', url: '/bucket/k', headers: {}, body: [] });
  await call('PUT', '/bucket/k', {}, big('c'));
  expect((await buffer(former.body as Readable)).toString()).toBe(big('a'));
  const range = { range: 'bytes=99998-' };
  expect((await call('GET', '/bucket/k', range)).text).toBe('cc');
  expect(files()).toHaveLength(1);
  // A process that was killed between the file and its row.
  writeFileSync(join(folder, 's3', 'orphan'), '');
  database.close();
  openS3();
  expect(files()).toHaveLength(1);
  await call('DELETE', '/bucket/k');
  expect(files()).toEqual([]);
});

it('S3 returns the checksum of the content on disk, for objects uploaded with one', async () => {
  await call('PUT', '/bucket/with', { 'x-amz-checksum-sha256': sha256('right') }, 'right');
  await call('PUT', '/bucket/without', {}, 'right');
  const checksum = async (key: string) =>
    (await call('HEAD', `/bucket/${key}`, { 'x-amz-checksum-mode': 'ENABLED' })).headers['x-amz-checksum-sha256'];
  expect([await checksum('with'), await checksum('without')]).toEqual([sha256('right'), undefined]);
  await call('PUT', '/bucket/copy', { 'x-amz-copy-source': '/bucket/without', 'x-amz-checksum-algorithm': 'SHA256' });
  expect(await checksum('copy')).toBe(sha256('right'));
  await call('PUT', '/bucket/large', { 'x-amz-checksum-sha256': sha256(big('a')) }, big('a'));
  writeFileSync(files()[0] as string, big('b'));
  expect(await checksum('large')).toBe(sha256(big('b')));
});

it('S3 reports an object that was cut off on disk', async () => {
  await call('PUT', '/bucket/k', {}, big('x'));
  truncateSync(files()[0] as string, 2000);
  expect(await refusal('GET', '/bucket/k')).toBe('500 InternalError');
});

it('S3 copies headers with the content, also of an empty object', async () => {
  await call('PUT', '/bucket/a', { 'content-type': 'text/plain' }, '');
  const copied = await call('PUT', '/bucket/b', { 'x-amz-copy-source': '/bucket/a' });
  expect(copied.text).toContain(`<ETag>&quot;${md5('')}&quot;</ETag>`);
  expect((await call('GET', '/bucket/b')).headers).toMatchObject({
    'content-type': 'text/plain',
    'content-length': '0',
  });
});

it('S3 lets one of several concurrent writes with If-None-Match win', async () => {
  const puts = ['a', 'b', 'c'].map((text) => refusal('PUT', '/bucket/k', { 'if-none-match': '*' }, text));
  expect((await Promise.all(puts)).sort()).toEqual([
    '412 PreconditionFailed',
    '412 PreconditionFailed',
    'answered 200',
  ]);
  expect(created).toHaveLength(1);
});

it('S3 lists in byte order, in pages and by common prefixes', async () => {
  const keys = ['runs/b/1', 'runs/b/2', 'runs/a', 'runs/é&', 'runs/B', 'states/1'];
  for (const key of keys) await call('PUT', `/bucket/${encodeURIComponent(key)}`);
  const listed = (text: string, tag = 'Key') =>
    [...text.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, one]) => one);
  const list = async (query: string) => (await call('GET', `/bucket?list-type=2&${query}`)).text;
  expect(listed(await list('prefix=runs/'))).toEqual(['runs/B', 'runs/a', 'runs/b/1', 'runs/b/2', 'runs/é&amp;']);
  expect(listed(await list('prefix=runs/&encoding-type=url')).at(-1)).toBe(encodeURIComponent('runs/é&'));
  expect(listed(await list('start-after=runs/b/1&max-keys=1'))).toEqual(['runs/b/2']);
  const all: unknown[] = [];
  for (let token = ''; ; ) {
    const page = await list(`prefix=runs/&delimiter=/&max-keys=2${token && `&continuation-token=${token}`}`);
    all.push([listed(page), listed(page.replace(/^.*?<CommonPrefixes>/s, ''), 'Prefix')]);
    token = listed(page, 'NextContinuationToken')[0] ?? '';
    expect(listed(page, 'IsTruncated')).toEqual([String(token !== '')]);
    if (!token) break;
  }
  expect(all).toEqual([
    [['runs/B', 'runs/a'], ['runs/']],
    [['runs/é&amp;'], ['runs/b/']],
  ]);
});

it('S3 deletes an object, and succeeds if it does not exist', async () => {
  await call('PUT', '/bucket/k');
  for (let n = 0; n < 2; n++) expect((await call('DELETE', '/bucket/k')).status).toBe(204);
  expect([await refusal('GET', '/bucket/k'), await s3.exists('bucket', 'k')]).toEqual(['404 NoSuchKey', false]);
});

it('S3 lists its buckets', async () => {
  expect((await call('GET', '/')).text).toContain('<Bucket><Name>bucket</Name></Bucket>');
  expect((await call('HEAD', '/bucket')).status).toBe(200);
  expect(await refusal('PUT', '/other/k')).toBe('404 NoSuchBucket');
});

it.each<[string, ...Parameters<typeof call>]>([
  ['400 InvalidURI', 'GET', '/bucket/a/../b'],
  ['400 InvalidURI', 'GET', '/bucket/%2e%2e/b'],
  ['400 InvalidURI', 'PUT', '/bucket/a//b'],
  ['400 InvalidURI', 'PUT', '/bucket/%00'],
  ['400 InvalidURI', 'PUT', `/bucket/${'a'.repeat(1025)}`],
  ['400 InvalidURI', 'PUT', '/.hidden/k'],
  ['400 InvalidURI', 'PUT', '/bucket/k', { 'x-amz-copy-source': '/bucket/../x' }],
  ['405 MethodNotAllowed', 'POST', '/bucket?delete'],
  ['405 MethodNotAllowed', 'PUT', '/bucket'],
  ['501 NotImplemented', 'GET', '/bucket'],
  ['501 NotImplemented', 'GET', '/bucket?versions'],
  ['501 NotImplemented', 'GET', '/bucket/k?versionId=1'],
  ['501 NotImplemented', 'PUT', '/bucket/k', { 'x-amz-meta-owner': 'me' }],
  ['501 NotImplemented', 'PUT', '/bucket/k', { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }],
  ['501 NotImplemented', 'PUT', '/bucket/k', { 'if-none-match': '"etag"' }],
  ['501 NotImplemented', 'PUT', '/bucket/k', { 'if-match': '*' }],
  ['400 MetadataTooLarge', 'PUT', '/bucket/k', { 'content-type': 'a'.repeat(1025) }],
])('S3 refuses with %s: %s %s %j', async (expected, ...request) => {
  expect(await refusal(...request)).toBe(expected);
  expect(created).toEqual([]);
});
