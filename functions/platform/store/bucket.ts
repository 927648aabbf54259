import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { environment } from '#platform/environment.ts';
import { callS3, dnsSuffix, presign, type SendOptions } from './aws.ts';
import { objects } from './keys.ts';
import type { AwsResponse, Call } from './services.ts';

/**
 * The one bucket, with the keys of keys.ts `objects`. Encryption is the bucket's default. The table, not the bucket,
 * decides about order and existence of records.
 */

/** The bucket rejected a request, or failed. */
export class BucketError extends Error {
  override name = 'BucketError';
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

export interface ByteRange {
  /** Offset of the first byte. */
  from: number;
  /** Number of bytes; fewer are returned at the end of the object. */
  length: number;
}

/** Origin of presigned URLs, e.g. `https://BUCKET.s3.eu-central-1.amazonaws.com`. */
export const bucketOrigin = (): string => new URL(objectUrl('')).origin;

const objectUrl = (key: string, bucket = environment.bucketName): string => {
  const path = key.split('/').map(encodeURIComponent).join('/');
  const endpoint = environment.endpoint('S3');
  if (endpoint) return `${endpoint}/${bucket}/${path}`;
  const { region } = environment;
  return `https://${bucket}.s3.${region}.${dnsSuffix(region)}/${path}`;
};

const request = (key: string, call: Call, sending?: SendOptions): Promise<AwsResponse> =>
  callS3(objectUrl(key), call, sending);

const isOk = ({ status }: AwsResponse): boolean => status >= 200 && status < 300;

const failed = (action: string, key: string, { status, body }: AwsResponse): BucketError =>
  new BucketError(`${action} ${key}: HTTP ${status} ${body.toString('utf8').slice(0, 500)}`, status);

const noSuchKey = 404;
/** S3's answer to any range of an empty object, and to a range that begins after the end. */
const rangeNotSatisfiable = 416;

/**
 * The object or the requested part of it; empty if the part begins after its end; undefined if there is none.
 * @throws {BucketError}
 */
export const getObject = async (key: string, range?: ByteRange): Promise<Buffer | undefined> => {
  if (range) return (await getPart(key, range))?.bytes;
  const answer = await request(key, { method: 'GET' });
  if (isOk(answer)) return answer.body;
  if (answer.status === noSuchKey) return undefined;
  throw failed('reading', key, answer);
};

export interface Part {
  bytes: Buffer;
  /** Bytes of the whole object; unknown if the part begins after its end. */
  size: number | undefined;
  /** ETag of exactly this content. */
  etag: string;
}

/** {@link getObject} of a part, with the size of the whole. */
export const getPart = async (key: string, { from, length }: ByteRange): Promise<Part | undefined> => {
  const answer = await request(key, { method: 'GET', headers: { range: `bytes=${from}-${from + length - 1}` } });
  const etag = String(answer.headers.etag ?? '');
  if (answer.status === noSuchKey) return undefined;
  if (answer.status === rangeNotSatisfiable) return { bytes: Buffer.alloc(0), size: undefined, etag };
  if (!isOk(answer)) throw failed('reading', key, answer);
  const size = Number(answer.headers['content-range']?.split('/')[1] ?? answer.body.length);
  return { bytes: answer.body, size, etag };
};

/**
 * The whole object, or its size without reading it if it exceeds `maxBytes`.
 * @throws {BucketError}
 */
export const getObjectUpTo = async (key: string, maxBytes: number): Promise<Buffer | number | undefined> => {
  const answer = await request(key, { method: 'GET' }, { maxBytes });
  if (answer.status === noSuchKey) return undefined;
  if (!isOk(answer)) throw failed('reading', key, answer);
  const size = Number(answer.headers['content-length'] ?? answer.body.length);
  return size > maxBytes ? size : answer.body;
};

export type Peek = Omit<Part, 'bytes' | 'size'> & { head: Buffer; size: number };

/**
 * Size of an object and its first bytes, in one request; undefined if there is none.
 * @throws {BucketError}
 */
export const peekObject = async (key: string, bytes: number): Promise<Peek | undefined> => {
  const part = await getPart(key, { from: 0, length: bytes });
  return part && { size: part.size ?? 0, head: part.bytes.subarray(0, bytes), etag: part.etag };
};

const pieceBytes = 8 * 1024 * 1024;

/**
 * The whole object, read in pieces, because one request would take twice its size in memory; or its size if it exceeds
 * `maxBytes`.
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
 * Size in bytes; undefined if there is no such object.
 * @throws {BucketError}
 */
export const objectSize = async (key: string): Promise<number | undefined> => {
  const answer = await request(key, { method: 'HEAD' });
  if (isOk(answer)) return Number(answer.headers['content-length']);
  if (answer.status === noSuchKey) return undefined;
  throw failed('looking at', key, answer);
};

/**
 * Size in bytes, and the SHA-256 (hex) that storage computed if the object was written with one; undefined if there is
 * no such object. The content is not read.
 * @throws {BucketError}
 */
export const objectDigest = async (key: string): Promise<{ size: number; sha256?: string } | undefined> => {
  const answer = await request(key, { method: 'HEAD', headers: { 'x-amz-checksum-mode': 'ENABLED' } });
  if (answer.status === noSuchKey) return undefined;
  if (!isOk(answer)) throw failed('looking at', key, answer);
  const sha256 = answer.headers['x-amz-checksum-sha256'];
  return {
    size: Number(answer.headers['content-length']),
    ...(typeof sha256 === 'string' ? { sha256: toHex(sha256) } : {}),
  };
};

const toHex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');
const toBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

/** S3's header for the required SHA-256 of the content. */
const sha256Header = (sha256: string): Record<string, string> => ({ 'x-amz-checksum-sha256': toBase64(sha256) });

/**
 * @param sha256 hex; storage rejects other content, and stores it for {@link objectDigest}
 * @throws {BucketError}
 */
export const putObject = async (
  key: string,
  content: Uint8Array<ArrayBuffer> | string,
  contentType = 'application/octet-stream',
  sha256?: string,
): Promise<void> => {
  const headers = { 'content-type': contentType, ...(sha256 === undefined ? {} : sha256Header(sha256)) };
  const answer = await request(key, { method: 'PUT', headers, body: content });
  if (!isOk(answer)) throw failed('writing', key, answer);
};

const preconditionFailed = 412;

/**
 * Writes an object unless there is one already.
 * @param sha256 hex; storage rejects other content
 * @throws {BucketError}
 */
export const putOnce = async (key: string, content: Uint8Array<ArrayBuffer>, sha256: string): Promise<void> => {
  const headers = { ...onceHeaders, ...sha256Header(sha256) };
  const answer = await request(key, { method: 'PUT', headers, body: content });
  if (!isOk(answer) && answer.status !== preconditionFailed) throw failed('writing', key, answer);
};

/**
 * Copies within the bucket, and replaces an existing object. Storage computes the SHA-256 of the copied content.
 * @param etag ETag of the content to copy; missing: the current content
 * @returns the SHA-256 in hex; undefined if the content has changed
 * @throws {BucketError}
 */
export const copyObject = async (from: string, to: string, etag?: string): Promise<string | undefined> => {
  const source = `/${environment.bucketName}/${from.split('/').map(encodeURIComponent).join('/')}`;
  const headers = {
    'x-amz-copy-source': source,
    'x-amz-checksum-algorithm': 'SHA256',
    ...(etag === undefined ? {} : { 'x-amz-copy-source-if-match': etag }),
  };
  const answer = await request(to, { method: 'PUT', headers });
  if (answer.status === preconditionFailed) return undefined;
  const sha256 = /<ChecksumSHA256>([\w+/=]+)<\/ChecksumSHA256>/.exec(answer.body.toString('utf8'))?.[1];
  // A copy that fails midway is also answered with 200 (S3 API: CopyObject).
  if (!isOk(answer) || !sha256) throw failed(`copying ${from} to`, to, answer);
  return toHex(sha256);
};

/**
 * The bucket keeps the content as an old version for as long as its rules say (infra/stack/bucket-rules.ts). Can be
 * repeated.
 * @throws {BucketError}
 */
export const deleteObject = async (key: string): Promise<void> => {
  const answer = await request(key, { method: 'DELETE' });
  if (!isOk(answer)) throw failed('deleting', key, answer);
};

export interface Listed {
  key: string;
  /** UTC, ISO 8601, to the second or millisecond. */
  modifiedAt: string;
}

const textIn = (xml: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1]?.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/**
 * Everything below a prefix, in the order of the keys; 1 request for 1,000 (S3 API: ListObjectsV2).
 * @throws {BucketError}
 */
export async function* listObjects(prefix: string): AsyncGenerator<Listed> {
  for (let token: string | undefined, first = true; first || token; first = false) {
    const query = new URLSearchParams({ 'list-type': '2', prefix });
    if (token) query.set('continuation-token', token);
    const answer = await callS3(`${objectUrl('')}?${query}`, { method: 'GET' });
    if (!isOk(answer)) throw failed('listing', prefix, answer);
    const xml = answer.body.toString('utf8');
    for (const [, entry = ''] of xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
      yield { key: textIn(entry, 'Key') ?? '', modifiedAt: textIn(entry, 'LastModified') ?? '' };
    }
    token = textIn(xml, 'IsTruncated') === 'true' ? textIn(xml, 'NextContinuationToken') : undefined;
  }
}

/** A URL for reading without credentials; its host is not the API's. @param bucket other than the platform's */
export const presignGet = (key: string, expiresSeconds: number, bucket?: string): Promise<string> =>
  presign(objectUrl(key, bucket), 'GET', expiresSeconds);

/** A URL for reading a gzip file as what it contains: the client decompresses it, as it does other responses. */
export const presignGzip = (key: string, expiresSeconds: number): Promise<string> =>
  presign(`${objectUrl(key)}?response-content-encoding=gzip`, 'GET', expiresSeconds);

/**
 * A URL for uploads can be used any number of times until it expires, so no content that is read later may be stored
 * under such a URL. The only three kinds are:
 * - {@link presignUpload}: any content, into `uploads/`; accepting it makes a copy. {@link presignLeftState} does the
 *   same with a key beside the run's content, so that both expire together.
 * - {@link presignOnce}: any content, once: storage rejects an upload if there is an object.
 * - {@link presignContent}: only content with the given checksum.
 */
export const presignUpload = (name: string, expiresSeconds: number): Promise<string> =>
  presign(objectUrl(objects.upload(name)), 'PUT', expiresSeconds);

export const presignLeftState = (runId: string, expiresSeconds: number): Promise<string> =>
  presign(objectUrl(objects.leftState(runId)), 'PUT', expiresSeconds);

/** Headers of an upload that storage accepts once; the client must send them (S3 User Guide: conditional writes). */
export const onceHeaders = { 'if-none-match': '*' };

export const presignOnce = (key: string, expiresSeconds: number): Promise<string> =>
  presign(objectUrl(key), 'PUT', expiresSeconds, onceHeaders);

/** @param sha256 hex; the client must send it, in base64, as `x-amz-checksum-sha256` */
export const presignContent = (key: string, expiresSeconds: number, sha256: string): Promise<string> =>
  presign(objectUrl(key), 'PUT', expiresSeconds, sha256Header(sha256));

/**
 * Writes a file as an object, without taking memory for it.
 * @param sha256 hex; storage rejects other content
 * @throws {BucketError}
 */
export const putFile = (key: string, path: string, size: number, sha256: string): Promise<void> =>
  putStream(key, createReadStream(path), { size, sha256, type: 'application/gzip' });

/**
 * Writes a stream as an object, without buffering it. One attempt of at most five minutes without progress.
 * @param sha256 hex; storage rejects other content
 * @throws {BucketError}
 */
export const putStream = async (
  key: string,
  body: Readable,
  { size, sha256, type }: { size: number; sha256: string; type: string },
): Promise<void> => {
  const headers = { 'content-length': String(size), 'content-type': type, ...sha256Header(sha256) };
  const answer = await request(key, { method: 'PUT', headers, body }, { timeoutMs: 5 * 60_000 });
  if (!isOk(answer)) throw failed('writing', key, answer);
};
