import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Database } from '#infra/local/host/database.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import { Digests } from './digests.ts';
import { type Attributes, Objects, preconditionFailed, type StoredObject } from './objects.ts';
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
/**
 * The part of S3 that the product and an operator's tools use, on disk: PutObject, CopyObject, GetObject, HeadObject,
 * DeleteObject, ListObjectsV2, HeadBucket and ListBuckets. Any other header or parameter is refused by name. Writes are
 * atomic. As elsewhere in the data folder, nothing waits for fsync.
 */
export class S3 {
  readonly #database: Database;
  readonly #objects: Objects;
  readonly #onCreated: (object: ObjectCreated) => void;
  readonly #buckets = new Set<string>();

  /** @param folder of large objects; created if missing */
  constructor(database: Database, folder: string, onCreated: (object: ObjectCreated) => void) {
    this.#database = database;
    this.#objects = new Objects(database, folder);
    this.#onCreated = onCreated;
  }

  ensureBucket(name: string): void {
    this.#buckets.add(name);
  }

  exists(bucket: string, key: string): boolean {
    return this.#objects.get(bucket, key) !== undefined;
  }

  /**
   * Serves a request whose signature and permission have been checked.
   * @throws AwsError
   */
  async handle(request: S3Request): Promise<S3Reply> {
    try {
      return await this.#handle(request);
    } finally {
      // It may have seen an object that is not on disk yet.
      await this.#database.written();
    }
  }

  async #handle(request: S3Request): Promise<S3Reply> {
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
        await this.#objects.delete(target.bucket, target.key);
        return empty(204);
      case 'PutObject':
        return target.source === undefined ? this.#put(target, request) : this.#copy(target, target.source, request);
      default:
        return this.#get(target, request, query.get('response-content-encoding'));
    }
  }

  #named() {
    return { Bucket: [...this.#buckets].map((Name) => ({ Name })) };
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
    const source = this.#objects.get(...bucketAndKey(from));
    if (!source) throw noSuchKey();
    const match = headers['x-amz-copy-source-if-match'];
    if (match !== undefined && match !== `"${source.etag}"`) throw preconditionFailed();
    const content = await this.#objects.contentOf(source);
    const { etag, sha256 } = await this.#write(target, Buffer.isBuffer(content) ? [content] : content, {
      headers: source.headers,
      withSha256: headers['x-amz-checksum-algorithm'] === 'SHA256' || source.sha256 !== undefined,
    });
    return inXml({ CopyObjectResult: { ETag: `"${etag}"`, ChecksumSHA256: sha256 } });
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
    const digests = new Digests();
    let attributes: Attributes = { etag: '', headers };
    const digested = async function* () {
      for await (const chunk of content) {
        digests.update(chunk);
        yield chunk;
      }
    };
    const attributesOf = () => {
      const { md5, sha256 } = digests.check(expected);
      attributes = { etag: md5.toString('hex'), ...(withSha256 && { sha256: sha256.toString('base64') }), headers };
      return attributes;
    };
    await this.#objects.put(bucket, key, digested(), attributesOf, isNew);
    this.#onCreated({ bucket, key, size: digests.size, etag: attributes.etag, sequencer: Date.now().toString(16) });
    return attributes;
  }

  /** @param encoding in place of the stored one */
  async #get({ bucket, key, action }: S3Target, { headers }: S3Request, encoding: string | null): Promise<S3Reply> {
    const object = this.#objects.get(bucket, key);
    if (!object) throw noSuchKey();
    const { etag, modifiedAt, sha256, size } = object;
    const answered: Record<string, string> = {
      ...object.headers,
      ...(encoding === null ? {} : { 'content-encoding': encoding }),
      etag: `"${etag}"`,
      'last-modified': modifiedAt.toUTCString(),
      'accept-ranges': 'bytes',
    };
    if (headers['if-none-match'] === answered.etag) return { ...empty(304), headers: answered };
    if (sha256 && headers['x-amz-checksum-mode'] === 'ENABLED')
      answered['x-amz-checksum-sha256'] = action === 'HeadObject' ? await this.#actualSha256(object) : sha256;
    const range = rangeOf(headers.range, size);
    const { from, length } = range ?? { from: 0, length: size };
    if (range) answered['content-range'] = `bytes ${from}-${from + length - 1}/${size}`;
    answered['content-length'] = String(length);
    const status = range ? 206 : 200;
    if (action === 'HeadObject') return { ...empty(status), headers: answered };
    return { status, headers: answered, body: await this.#objects.contentOf(object, from, length) };
  }

  /** Read again: unlike S3, a disk may damage content, and callers compare the checksum with the recorded one. */
  async #actualSha256(object: StoredObject): Promise<string> {
    const digests = new Digests();
    const content = await this.#objects.contentOf(object);
    for await (const chunk of Buffer.isBuffer(content) ? [content] : content) digests.update(chunk);
    return digests.check({}).sha256.toString('base64');
  }

  #list(bucket: string, query: URLSearchParams): S3Reply {
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
    const keys = this.#objects.keys(bucket, prefix);
    const entries = [...new Set(keys.map(entryOf))].filter((entry) => inOrder(after, entry) < 0).sort(inOrder);
    const page = entries.slice(0, max);
    const isTruncated = entries.length > page.length;
    const isKey = new Set(keys);
    const shown = (text: string) => (query.get('encoding-type') === 'url' ? encodeURIComponent(text) : text);
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
        Contents: page.filter((entry) => isKey.has(entry)).map((key) => this.#listed(bucket, key, shown(key))),
        CommonPrefixes: page.filter((entry) => !isKey.has(entry)).map((entry) => ({ Prefix: shown(entry) })),
      },
    });
  }

  #listed(bucket: string, key: string, shown: string) {
    const { etag, modifiedAt, size } = this.#objects.get(bucket, key) as StoredObject;
    return {
      Key: shown,
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
