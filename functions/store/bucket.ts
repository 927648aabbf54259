import { environment } from '../environment.ts';
import { type Call, dnsSuffix, presign, type Reply, send } from './aws.ts';

/**
 * The one bucket, by keys of keys.ts `objects`. Encryption is the bucket's default. Nothing here decides anything:
 * order and existence of records are the table's business.
 */

/** The bucket did not do what it was asked. */
export class BucketError extends Error {
  override name = 'BucketError';
}

export interface ByteRange {
  /** Offset of the first byte. */
  from: number;
  /** Number of bytes; fewer are answered at the end of the object. */
  length: number;
}

/** Where presigned URLs lead, e.g. `https://BUCKET.s3.eu-central-1.amazonaws.com`. */
export const bucketOrigin = (): string => new URL(objectUrl('')).origin;

const objectUrl = (key: string): string => {
  const path = key.split('/').map(encodeURIComponent).join('/');
  const endpoint = environment.endpoint('S3');
  if (endpoint) return `${endpoint}/${environment.bucketName}/${path}`;
  const { region } = environment;
  return `https://${environment.bucketName}.s3.${region}.${dnsSuffix(region)}/${path}`;
};

const request = (key: string, call: Call, maxBytes?: number): Promise<Reply> =>
  send('s3', objectUrl(key), call, { maxBytes });

const isOk = ({ status }: Reply): boolean => status >= 200 && status < 300;

const failed = (action: string, key: string, { status, body }: Reply): BucketError =>
  new BucketError(`${action} ${key}: HTTP ${status} ${body.toString('utf8').slice(0, 500)}`);

const noSuchKey = 404;
/** S3 answers this to any range of an empty object, and to one that begins behind the end. */
const rangeNotSatisfiable = 416;

/**
 * The object or the asked part of it; empty when the part begins behind its end; undefined when there is none.
 * @throws {BucketError}
 */
export const getObject = async (key: string, range?: ByteRange): Promise<Buffer | undefined> => {
  const headers = range && { range: `bytes=${range.from}-${range.from + range.length - 1}` };
  const answer = await request(key, { method: 'GET', headers });
  if (isOk(answer)) return answer.body;
  if (answer.status === rangeNotSatisfiable && range) return Buffer.alloc(0);
  if (answer.status === noSuchKey) return undefined;
  throw failed('reading', key, answer);
};

/**
 * The whole object, unless it has more than `maxBytes`; then its size, without having read it.
 * @throws {BucketError}
 */
export const getObjectUpTo = async (key: string, maxBytes: number): Promise<Buffer | number | undefined> => {
  const answer = await request(key, { method: 'GET' }, maxBytes);
  if (answer.status === noSuchKey) return undefined;
  if (!isOk(answer)) throw failed('reading', key, answer);
  const size = Number(answer.headers['content-length'] ?? answer.body.length);
  return size > maxBytes ? size : answer.body;
};

/**
 * Size of an object and its first bytes, in one request; undefined when there is none.
 * @throws {BucketError}
 */
export const peekObject = async (key: string, bytes: number): Promise<{ size: number; head: Buffer } | undefined> => {
  const answer = await request(key, { method: 'GET', headers: { range: `bytes=0-${bytes - 1}` } });
  if (answer.status === noSuchKey) return undefined;
  if (answer.status === rangeNotSatisfiable) return { size: 0, head: Buffer.alloc(0) };
  if (!isOk(answer)) throw failed('reading', key, answer);
  const head = answer.body;
  const size = Number(answer.headers['content-range']?.split('/')[1] ?? head.length);
  return { size, head: head.subarray(0, bytes) };
};

const pieceBytes = 8 * 1024 * 1024;

/**
 * The whole object, read in pieces: one request for all of it would take twice its size in memory. If it has more than
 * `maxBytes`, its size instead.
 * @throws {BucketError}
 */
export const getLargeObject = async (key: string, maxBytes: number): Promise<Buffer | number | undefined> => {
  const first = await peekObject(key, pieceBytes);
  if (!first || first.size > maxBytes) return first?.size;
  if (first.size <= first.head.length) return first.head;
  const whole = Buffer.allocUnsafe(first.size);
  for (let at = first.head.copy(whole); at < whole.length; ) {
    const piece = await getObject(key, { from: at, length: pieceBytes });
    if (!piece?.length) throw new BucketError(`reading ${key}: it became smaller while it was read`);
    at += piece.copy(whole, at);
  }
  return whole;
};

/**
 * Size in bytes; undefined when there is no such object.
 * @throws {BucketError}
 */
export const objectSize = async (key: string): Promise<number | undefined> => {
  const answer = await request(key, { method: 'HEAD' });
  if (isOk(answer)) return Number(answer.headers['content-length']);
  if (answer.status === noSuchKey) return undefined;
  throw failed('looking at', key, answer);
};

/** @throws {BucketError} */
export const putObject = async (
  key: string,
  content: Uint8Array<ArrayBuffer> | string,
  contentType = 'application/octet-stream',
): Promise<void> => {
  const answer = await request(key, { method: 'PUT', headers: { 'content-type': contentType }, body: content });
  if (!isOk(answer)) throw failed('writing', key, answer);
};

/**
 * Within the bucket; replaces what is there.
 * @throws {BucketError}
 */
export const copyObject = async (from: string, to: string): Promise<void> => {
  const source = `/${environment.bucketName}/${from.split('/').map(encodeURIComponent).join('/')}`;
  const answer = await request(to, { method: 'PUT', headers: { 'x-amz-copy-source': source } });
  // A copy that fails on its way is answered with 200 all the same (S3 API: CopyObject).
  if (!isOk(answer) || !answer.body.includes('CopyObjectResult')) throw failed(`copying ${from} to`, to, answer);
};

/** For reading without credentials, over another host name than the API's (api.md §3.1). */
export const presignGet = (key: string, expiresSeconds: number): Promise<string> =>
  presign('s3', objectUrl(key), 'GET', expiresSeconds);

/**
 * For one kind of upload: with `contentLength` only a body of exactly that many bytes is taken, with `contentMd5` (hex)
 * only that very content, from whoever says so in the header `content-md5`.
 */
export const presignPut = (
  key: string,
  expiresSeconds: number,
  { contentLength, contentMd5 }: { contentLength?: number; contentMd5?: string } = {},
): Promise<string> =>
  presign('s3', objectUrl(key), 'PUT', expiresSeconds, {
    ...(contentLength === undefined ? {} : { 'content-length': String(contentLength) }),
    ...(contentMd5 === undefined ? {} : { 'content-md5': Buffer.from(contentMd5, 'hex').toString('base64') }),
  });
