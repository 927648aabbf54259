import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AwsError } from '#infra/local/host/errors.ts';
import {
  type Attributes,
  actualSha256,
  contentOf,
  Digests,
  fileName,
  objectSuffix,
  openObject,
  trailerOf,
  unlessMissing,
} from './object-file.ts';
import { bucketAndKey, checkIsServed, readTarget, type S3Request, type S3Target } from './request.ts';
import { xml } from './xml.ts';

export interface S3Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer | Readable;
}

export interface ObjectCreated {
  bucket: string;
  key: string;
  /** Bytes. */
  size: number;
  etag: string;
  sequencer: string;
}

/** Headers stored with an object and returned with it. */
const storedHeaders = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-type'];

const noSuchKey = () => new AwsError('NoSuchKey', 'The specified key does not exist.', 404);
const preconditionFailed = () =>
  new AwsError('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', 412);

/** Read in one piece; larger ones are streamed. */
const smallBytes = 256 * 1024;

/**
 * The part of S3 that the product and an operator's tools use, on disk: PutObject, CopyObject, GetObject, HeadObject,
 * DeleteObject, ListObjectsV2, HeadBucket and ListBuckets. Any other header or parameter is refused by name. Writes are
 * atomic. As elsewhere in the data folder, nothing waits for fsync.
 */
export class S3 {
  readonly #folder: string;
  readonly #parts: string;
  readonly #onCreated: (object: ObjectCreated) => void;
  readonly #buckets = new Set<string>();

  constructor(folder: string, onCreated: (object: ObjectCreated) => void) {
    this.#folder = folder;
    this.#parts = join(folder, '.parts');
    this.#onCreated = onCreated;
    rmSync(this.#parts, { recursive: true, force: true });
    mkdirSync(this.#parts, { recursive: true });
  }

  ensureBucket(name: string): void {
    mkdirSync(join(this.#folder, name), { recursive: true });
    this.#buckets.add(name);
  }

  async exists(bucket: string, key: string): Promise<boolean> {
    return (await stat(this.#path(bucket, key)).catch(unlessMissing)) !== undefined;
  }

  /**
   * Serves a request whose signature and permission have been checked.
   * @throws AwsError
   */
  async handle(request: S3Request): Promise<S3Reply> {
    const target = readTarget(request);
    const query = new URLSearchParams(request.url.split('?', 2)[1]);
    checkIsServed(target, query, request.headers);
    if (target.action === 'ListAllMyBuckets') return inXml({ ListAllMyBucketsResult: { Buckets: this.#named() } });
    if (!this.#buckets.has(target.bucket))
      throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404);
    switch (target.action) {
      case 'ListBucket':
        return request.method === 'HEAD' ? empty(200) : this.#list(target.bucket, query);
      case 'DeleteObject':
        await rm(this.#path(target.bucket, target.key), { force: true });
        return empty(204);
      case 'PutObject':
        return target.source === undefined ? this.#put(target, request) : this.#copy(target, target.source, request);
      default:
        return this.#get(target, request);
    }
  }

  #named() {
    return { Bucket: [...this.#buckets].map((Name) => ({ Name })) };
  }

  #path(bucket: string, key: string): string {
    return join(this.#folder, bucket, ...key.split('/').map(fileName)) + objectSuffix;
  }

  async #put(target: S3Target, { headers, body }: S3Request): Promise<S3Reply> {
    const kept = storedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
    const { etag } = await this.#write(target, body, {
      headers: Object.fromEntries(kept),
      withSha256: headers['x-amz-checksum-sha256'] !== undefined,
      isNew: headers['if-none-match'] !== undefined,
      expected: headers,
    });
    return { ...empty(200), headers: { etag: `"${etag}"` } };
  }

  async #copy(target: S3Target, from: string, { headers }: S3Request): Promise<S3Reply> {
    const source = await openObject(this.#path(...bucketAndKey(from)));
    if (!source) throw noSuchKey();
    try {
      const match = headers['x-amz-copy-source-if-match'];
      if (match !== undefined && match !== `"${source.etag}"`) throw preconditionFailed();
      const { etag, sha256 } = await this.#write(target, contentOf(source), {
        headers: source.headers,
        withSha256: headers['x-amz-checksum-algorithm'] === 'SHA256' || source.sha256 !== undefined,
      });
      return inXml({ CopyObjectResult: { ETag: `"${etag}"`, ChecksumSHA256: sha256 } });
    } finally {
      await source.file.close();
    }
  }

  /** @param expected headers with digests of the content */
  async #write(
    { bucket, key }: S3Target,
    content: S3Request['body'],
    options: {
      headers: Record<string, string>;
      withSha256: boolean;
      isNew?: boolean;
      expected?: IncomingHttpHeaders;
    },
  ): Promise<Attributes> {
    const { headers, withSha256, isNew = false, expected = {} } = options;
    const path = this.#path(bucket, key);
    const part = join(this.#parts, randomUUID());
    const digests = new Digests();
    let attributes: Attributes = { etag: '', headers };
    const withTrailer = async function* () {
      for await (const chunk of content) {
        digests.update(chunk);
        yield chunk;
      }
      const { md5, sha256 } = digests.check(expected);
      attributes = { etag: md5.toString('hex'), ...(withSha256 && { sha256: sha256.toString('base64') }), headers };
      yield trailerOf(attributes);
    };
    try {
      await mkdir(dirname(path), { recursive: true });
      // Opened before the content can fail: a stream would create the file after its removal.
      const file = await open(part, 'wx', 0o600);
      await pipeline(withTrailer, file.createWriteStream());
      await (isNew ? linkUnlessThere(part, path) : rename(part, path));
    } finally {
      await rm(part, { force: true });
    }
    this.#onCreated({ bucket, key, size: digests.size, etag: attributes.etag, sequencer: Date.now().toString(16) });
    return attributes;
  }

  async #get({ bucket, key, action }: S3Target, { headers }: S3Request): Promise<S3Reply> {
    const object = await openObject(this.#path(bucket, key));
    if (!object) throw noSuchKey();
    const { file, etag, modifiedAt, sha256, size } = object;
    let isStreamed = false;
    try {
      const answered: Record<string, string> = {
        ...object.headers,
        etag: `"${etag}"`,
        'last-modified': modifiedAt.toUTCString(),
        'accept-ranges': 'bytes',
      };
      if (headers['if-none-match'] === answered.etag) return { ...empty(304), headers: answered };
      if (sha256 && headers['x-amz-checksum-mode'] === 'ENABLED')
        answered['x-amz-checksum-sha256'] = action === 'HeadObject' ? await actualSha256(object) : sha256;
      const range = rangeOf(headers.range, size);
      const { from, length } = range ?? { from: 0, length: size };
      if (range) answered['content-range'] = `bytes ${from}-${from + length - 1}/${size}`;
      answered['content-length'] = String(length);
      const status = range ? 206 : 200;
      if (action === 'HeadObject') return { ...empty(status), headers: answered };
      isStreamed = length > smallBytes;
      if (isStreamed) return { status, headers: answered, body: contentOf(object, from, length) };
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, from);
      return { status, headers: answered, body: buffer };
    } finally {
      if (!isStreamed) await file.close();
    }
  }

  async #list(bucket: string, query: URLSearchParams): Promise<S3Reply> {
    if (query.get('list-type') !== '2')
      throw new AwsError('NotImplemented', 'The local S3 does not serve ListObjects: use ListObjectsV2.', 501);
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter') ?? '';
    const token = query.get('continuation-token') ?? undefined;
    const after = token === undefined ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
    const max = Math.min(Number(query.get('max-keys') ?? maxKeys), maxKeys);
    /** An object, or with a delimiter the common prefix of several. */
    const entryOf = (key: string): string => {
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      return end < 0 ? key : key.slice(0, end + delimiter.length);
    };
    const keys = (await this.#keys(bucket)).filter((key) => key.startsWith(prefix));
    const entries = [...new Set(keys.map(entryOf))].filter((entry) => inOrder(after, entry) < 0).sort(inOrder);
    const page = entries.slice(0, max);
    const isTruncated = entries.length > page.length;
    const isKey = new Set(keys);
    const shown = (text: string) => (query.get('encoding-type') === 'url' ? encodeURIComponent(text) : text);
    const objects = [];
    for (const entry of page) if (isKey.has(entry)) objects.push(await this.#listed(bucket, entry));
    return inXml({
      ListBucketResult: {
        Name: bucket,
        Prefix: shown(prefix),
        Delimiter: delimiter ? shown(delimiter) : undefined,
        MaxKeys: max,
        KeyCount: page.length,
        IsTruncated: isTruncated,
        EncodingType: query.get('encoding-type') ?? undefined,
        ContinuationToken: token,
        NextContinuationToken: isTruncated ? Buffer.from(page.at(-1) ?? '').toString('base64url') : undefined,
        Contents: objects.flatMap((one) => (one ? [{ ...one, Key: shown(one.Key) }] : [])),
        CommonPrefixes: page.filter((entry) => !isKey.has(entry)).map((entry) => ({ Prefix: shown(entry) })),
      },
    });
  }

  async #keys(bucket: string): Promise<string[]> {
    const folder = join(this.#folder, bucket);
    const names = await readdir(folder, { recursive: true });
    return names
      .filter((name) => name.endsWith(objectSuffix))
      .map((name) => name.slice(0, -objectSuffix.length).split('/').map(decodeURIComponent).join('/'));
  }

  /** Undefined if it was deleted meanwhile. */
  async #listed(bucket: string, key: string) {
    const object = await openObject(this.#path(bucket, key));
    if (!object) return undefined;
    await object.file.close();
    const { etag, modifiedAt, size } = object;
    return {
      Key: key,
      LastModified: modifiedAt.toISOString(),
      ETag: `"${etag}"`,
      Size: size,
      StorageClass: 'STANDARD',
    };
  }
}

const maxKeys = 1000;

/** S3 API: ListObjectsV2, keys in the order of their UTF-8 bytes. */
const inOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const linkUnlessThere = (from: string, to: string): Promise<void> =>
  link(from, to).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? preconditionFailed() : error;
  });

/**
 * The requested range of the content; undefined for all of it.
 * @throws AwsError InvalidRange
 */
const rangeOf = (header: string | undefined, size: number): { from: number; length: number } | undefined => {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (!first && !last) return undefined;
  const from = first ? Number(first) : Math.max(0, size - Number(last));
  const end = first && last ? Math.min(Number(last) + 1, size) : size;
  if (first && last && Number(last) < Number(first)) return undefined;
  if (from >= size) throw new AwsError('InvalidRange', 'The requested range is not satisfiable', 416);
  return { from, length: end - from };
};

const inXml = (content: object): S3Reply => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: Buffer.from(xml(content)),
});
const empty = (status: number): S3Reply => ({ status, headers: {}, body: Buffer.alloc(0) });
