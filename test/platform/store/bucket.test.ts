import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import * as bucket from '#platform/store/bucket.ts';
import { startStorage } from '#test/support/storage.ts';

const storage = await startStorage();

const text = (buffer: Buffer | number | undefined) => (Buffer.isBuffer(buffer) ? buffer.toString() : buffer);

it('the bucket stores objects byte for byte', async () => {
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256));
  await bucket.putObject('runs/run-1/plan/log', bytes);
  expect((await bucket.getObject('runs/run-1/plan/log'))?.equals(bytes)).toBe(true);
  expect(await bucket.objectSize('runs/run-1/plan/log')).toBe(70_000);
});

it('a missing object is read as undefined', async () => {
  expect(await bucket.getObject('runs/none')).toBeUndefined();
  expect(await bucket.getObject('runs/none', { from: 0, length: 2 })).toBeUndefined();
  expect(await bucket.getObjectUpTo('runs/none', 10)).toBeUndefined();
  expect(await bucket.peekObject('runs/none', 2)).toBeUndefined();
  expect(await bucket.objectSize('runs/none')).toBeUndefined();
});

it('a range is read, without bytes past the end', async () => {
  await bucket.putObject('runs/parts', '0123456789');
  expect(text(await bucket.getObject('runs/parts', { from: 3, length: 4 }))).toBe('3456');
  expect(text(await bucket.getObject('runs/parts', { from: 8, length: 100 }))).toBe('89');
  expect(text(await bucket.getObject('runs/parts', { from: 10, length: 100 }))).toBe('');
});

it('peekObject returns size and first bytes in one request', async () => {
  await bucket.putObject('configurations/a', 'abcdef');
  await bucket.putObject('configurations/empty', '');
  storage.calls.length = 0;
  expect(await bucket.peekObject('configurations/a', 2)).toMatchObject({ size: 6, head: Buffer.from('ab') });
  expect(storage.calls).toHaveLength(1);
  expect(await bucket.peekObject('configurations/empty', 2)).toMatchObject({ size: 0, head: Buffer.alloc(0) });
});

it('an object that is too large is not read, and its size is returned', async () => {
  await bucket.putObject('states/large', 'x'.repeat(1000));
  expect(await bucket.getObjectUpTo('states/large', 999)).toBe(1000);
  expect(text(await bucket.getObjectUpTo('states/large', 1000))).toHaveLength(1000);
});

it('a large object is read in pieces, with the same result for any size', async () => {
  const content = randomBytes(17 * 1024 * 1024 + 3);
  for (const size of [0, 5, 8 * 1024 * 1024, content.length]) {
    await bucket.putObject('runs/large', Uint8Array.from(content.subarray(0, size)));
    const read = (await bucket.getLargeObject('runs/large', size)) as Buffer;
    expect([size, read.equals(content.subarray(0, size))]).toEqual([size, true]);
    if (size) expect(await bucket.getLargeObject('runs/large', size - 1)).toBe(size);
  }
  expect(await bucket.getLargeObject('runs/none', 10)).toBeUndefined();
});

const put = (url: string, body: string, headers = {}) =>
  fetch(url, { method: 'PUT', body, headers }).then(({ status }) => status);
const sha256 = (content: string, encoding: 'hex' | 'base64') => createHash('sha256').update(content).digest(encoding);

it('presigned URLs work without credentials, for one method only', async () => {
  expect(await put(await bucket.presignUpload('sv-1.tfstate', 60), 'content')).toBe(200);
  const get = await bucket.presignGet('uploads/sv-1.tfstate', 60);
  expect(await (await fetch(get)).text()).toBe('content');
  expect(await put(get, 'other')).toBe(403);
  expect((await fetch(get.replace('sv-1', 'sv-2'))).status).toBe(403);
  expect(await (await fetch(get)).text()).toBe('content');
});

it('a presigned upload can be bound to its content', async () => {
  const url = await bucket.presignContent('states/bound', 60, sha256('content', 'hex'));
  const header = (content: string) => ({ 'x-amz-checksum-sha256': sha256(content, 'base64') });
  expect(await put(url, 'content')).toBe(403);
  expect(await put(url, 'another', header('another'))).toBe(403);
  expect(await put(url, 'another', header('content'))).toBe(400);
  expect(await put(url, 'content', header('content'))).toBe(200);
  expect(await put(url, 'content', header('content'))).toBe(200);
  expect(text(await bucket.getObject('states/bound'))).toBe('content');
});

it('a presigned upload can be limited to the first of several concurrent ones', async () => {
  const url = await bucket.presignOnce('runs/once', 60);
  expect(await put(url, 'without the header')).toBe(403);
  const answers = await Promise.all(['a', 'b', 'c'].map((body) => put(url, body, bucket.onceHeaders)));
  expect(answers.sort()).toEqual([200, 412, 412]);
  const first = text(await bucket.getObject('runs/once'));
  expect(await put(url, 'later', bucket.onceHeaders)).toBe(412);
  expect(text(await bucket.getObject('runs/once'))).toBe(first);
});

it('a copy contains only the checked content, and its checksum is returned', async () => {
  await bucket.putObject('uploads/a', 'reviewed');
  const head = await bucket.peekObject('uploads/a', 2);
  expect(await bucket.copyObject('uploads/a', 'states/a', head?.etag)).toBe(sha256('reviewed', 'hex'));
  expect(await bucket.objectDigest('states/a')).toEqual({ size: 8, sha256: sha256('reviewed', 'hex') });
  await bucket.putObject('uploads/a', 'swapped');
  expect(await bucket.copyObject('uploads/a', 'states/a', head?.etag)).toBeUndefined();
  expect(text(await bucket.getObject('states/a'))).toBe('reviewed');
});

it('the bucket rejects content that does not match its announced checksum', async () => {
  const store = (content: string) => bucket.putObject('states/said', content, undefined, sha256('right', 'hex'));
  await store('right');
  await expect(store('wrong')).rejects.toThrow(/writing states\/said: HTTP 400/);
  expect(text(await bucket.getObject('states/said'))).toBe('right');
});

it('objects are copied within the bucket, and a missing source is reported', async () => {
  await bucket.putObject('runs/a copy', 'content');
  await bucket.copyObject('runs/a copy', 'states/the copy');
  expect(text(await bucket.getObject('states/the copy'))).toBe('content');
  await expect(bucket.copyObject('runs/none', 'states/none')).rejects.toThrow(/copying runs\/none/);
});

it('a stream is stored if it has the announced content, and an interrupted one changes nothing', async () => {
  const content = randomBytes(300_000);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const put = (body: Readable) =>
    bucket.putStream('runs/streamed', body, { size: content.length, sha256, type: 'a/b' });
  const pieces = () => [content.subarray(0, 200_000), content.subarray(200_000)];
  await put(Readable.from(pieces()));
  expect(await bucket.objectDigest('runs/streamed')).toEqual({ size: content.length, sha256 });
  await expect(put(Readable.from(pieces().reverse()))).rejects.toThrow('writing runs/streamed: HTTP 400');
  const interrupted = async function* () {
    yield content.subarray(0, 200_000);
    throw new Error('the source is gone');
  };
  await expect(put(Readable.from(interrupted()))).rejects.toThrow('the source is gone');
  expect((await bucket.getObject('runs/streamed'))?.equals(content)).toBe(true);
});

it('a request is retried while S3 is busy, and the error names the operation when retries fail', async () => {
  await bucket.putObject('runs/busy', 'here');
  storage.busy(2);
  expect(text(await bucket.getObject('runs/busy'))).toBe('here');
  storage.busy(2, 'RequestTimeout');
  await bucket.putObject('runs/busy', 'here again');
  expect(text(await bucket.getObject('runs/busy'))).toBe('here again');
  storage.busy(100);
  await expect(bucket.getObject('runs/busy')).rejects.toThrow(/reading runs\/busy: HTTP 503/);
  storage.busy(0);
});

it('the bucket is addressed by its host name on AWS', async () => {
  const endpoint = process.env.AWS_ENDPOINT_URL_S3;
  delete process.env.AWS_ENDPOINT_URL_S3;
  try {
    const url = new URL(await bucket.presignGet('states/a b.json', 60));
    expect(url.origin).toBe('https://stepform-test.s3.us-east-1.amazonaws.com');
    expect(url.pathname).toBe('/states/a%20b.json');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('60');
  } finally {
    process.env.AWS_ENDPOINT_URL_S3 = endpoint;
  }
});
