import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { copyFile, link, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AwsError } from '#infra/local/host/errors.ts';

const load = createRequire(import.meta.url);

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
type Content = (path: string, content: unknown) => Promise<[size: number, md5: string]>;
interface S3Rver {
  store: {
    putContent: Content;
    getObject(bucket: string, key: string, options?: object): Promise<S3Object | null>;
    getBucket(name: string): Promise<object | null>;
    /** Of an object, or of the bucket itself. */
    getSubresource(bucket: string, key: string | undefined, type: string): Promise<unknown>;
    putBucket(name: string): Promise<unknown>;
    existsObject(bucket: string, key: string): Promise<boolean>;
    getResourcePath(bucket: string, key: string, resource: 'object'): string;
    putMetadata(bucket: string, key: string, metadata: object, md5?: string): Promise<void>;
  };
  callback(): Handler;
  on(event: 'event', listener: (event: { Records: S3Record[] }) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  logger: { close(): void; exceptions: { unhandle(): void } };
}
interface S3Object {
  size: number;
  range?: object;
  content: { destroy(): void } | null;
}
interface S3Record {
  eventName: string;
  s3: { bucket: { name: string }; object: { key: string; size?: number; eTag?: string; sequencer: string } };
}

export interface S3Request {
  bucket: string;
  /** Decoded; empty for calls on the bucket. */
  key: string;
  /** As in IAM, without `s3:`. */
  action: 'GetObject' | 'HeadObject' | 'PutObject' | 'DeleteObject' | 'ListBucket' | 'ListAllMyBuckets';
  /** What a copy is made of: `<bucket>/<key>`. */
  source?: string;
}

export interface ObjectCreated {
  bucket: string;
  key: string;
  size: number;
  etag: string;
  sequencer: string;
}

/** What a path-style request is about. Throws AwsError for keys that would leave the bucket's folder. */
export const readS3Request = (request: IncomingMessage): S3Request => {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  let segments: string[];
  try {
    segments = path.slice(1).split('/').map(decodeURIComponent);
  } catch {
    throw new AwsError('InvalidURI', "Couldn't parse the specified URI.");
  }
  const [bucket = '', ...rest] = segments;
  const key = rest.join('/');
  if (`${bucket}/${key}`.split('/').some((part) => part === '.' || part === '..') || key.includes('\0'))
    throw new AwsError('InvalidURI', 'The local S3 takes no key with a part . or ..');
  const source = request.headers['x-amz-copy-source'];
  return {
    bucket,
    key,
    action: actionOf(request.method ?? 'GET', bucket, key),
    ...(typeof source === 'string' ? { source: decodeURIComponent(source).replace(/^\//, '') } : {}),
  };
};

const actionOf = (method: string, bucket: string, key: string): S3Request['action'] => {
  if (!bucket) return 'ListAllMyBuckets';
  if (!key) return 'ListBucket';
  if (method === 'GET') return 'GetObject';
  if (method === 'HEAD') return 'HeadObject';
  return method === 'DELETE' ? 'DeleteObject' : 'PutObject';
};

/**
 * s3rver without its listener and its one fixed account: who may do what is decided before (endpoint.ts). An object
 * appears whole or not at all, as on AWS.
 */
export class S3 {
  readonly #app: S3Rver;
  readonly #handler: Handler;
  readonly #onCreated: (object: ObjectCreated) => void;

  constructor(folder: string, onCreated: (object: ObjectCreated) => void) {
    mkdirSync(folder, { recursive: true });
    this.#onCreated = onCreated;
    const App = load('@20minutes/s3rver') as new (options: object) => S3Rver;
    this.#app = new App({ directory: folder, silent: true, vhostBuckets: false });
    const { store } = this.#app;
    readLess(store);
    const put = store.putContent.bind(store);
    store.putContent = async (path, content) => {
      const part = `${path}.${randomBytes(6).toString('hex')}.part`;
      try {
        const result = isSmall(content) ? await putSmall(part, content) : await put(part, content);
        await checkDigests(content, part, result[1]);
        await (isConditional(content) ? moveUnlessThere(part, path) : rename(part, path));
        return result;
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    };
    // An empty object has no range that can be satisfied; s3rver would wait for its bytes for ever.
    const get = store.getObject.bind(store);
    store.getObject = async (bucket, key, options) => {
      const object = await get(bucket, key, options);
      if (object?.range && Number(object.size) === 0) {
        object.content?.destroy();
        object.content = null;
      }
      return object;
    };
    this.#app.on('error', () => {});
    this.#app.on('event', ({ Records }) => {
      for (const { eventName, s3 } of Records)
        if (eventName.startsWith('ObjectCreated:'))
          onCreated({
            bucket: s3.bucket.name,
            key: s3.object.key,
            size: s3.object.size ?? 0,
            etag: s3.object.eTag ?? '',
            sequencer: s3.object.sequencer,
          });
    });
    this.#handler = this.#app.callback();
  }

  async ensureBucket(name: string): Promise<void> {
    await this.#app.store.putBucket(name);
  }

  exists(bucket: string, key: string): Promise<boolean> {
    return this.#app.store.existsObject(bucket, key);
  }

  /** Answers a request whose signature and permission have been checked. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hash = request.headers['x-amz-content-sha256'];
    if (typeof hash === 'string' && hash.startsWith('STREAMING-') && hash !== 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD')
      throw new AwsError('NotImplemented', 'The local S3 does not read this kind of chunked upload.', 501);
    request.url = withoutSignature(request.url ?? '/');
    delete request.headers.authorization;
    // s3rver takes a request without any x-amz header for a visit to a web site.
    request.headers['x-amz-date'] ??= '';
    const asked = readS3Request(request);
    if (asked.source !== undefined) return this.#copy(asked, asked.source, request, response);
    if (asked.action === 'HeadObject' && request.headers['x-amz-checksum-mode'] === 'ENABLED') {
      const path = this.#app.store.getResourcePath(asked.bucket, asked.key, 'object');
      const sha256 = await digest(path, 'sha256').catch(() => undefined);
      if (sha256) response.setHeader('x-amz-checksum-sha256', sha256.toString('base64'));
    }
    await this.#handler(request, response);
  }

  /** S3 API: CopyObject, with `x-amz-copy-source-if-match` and a SHA-256, which s3rver has not. */
  async #copy({ bucket, key }: S3Request, source: string, request: IncomingMessage, response: ServerResponse) {
    const { store } = this.#app;
    const [sourceBucket = '', ...rest] = source.split('/');
    const path = store.getResourcePath(bucket, key, 'object');
    const part = `${path}.${randomBytes(6).toString('hex')}.part`;
    await mkdir(dirname(path), { recursive: true });
    try {
      await copyFile(store.getResourcePath(sourceBucket, rest.join('/'), 'object'), part);
      const [md5, sha256] = await Promise.all([digest(part, 'md5'), digest(part, 'sha256')]);
      const wanted = request.headers['x-amz-copy-source-if-match'];
      if (wanted !== undefined && wanted !== JSON.stringify(md5.toString('hex'))) return answerError(response, 412);
      const { size } = await stat(part);
      await rename(part, path);
      const etag = md5.toString('hex');
      await store.putMetadata(bucket, key, {}, etag);
      this.#onCreated({ bucket, key, size, etag, sequencer: Date.now().toString(16) });
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(
          `<CopyObjectResult><ETag>&quot;${etag}&quot;</ETag><ChecksumSHA256>${sha256.toString('base64')}</ChecksumSHA256></CopyObjectResult>`,
        );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      answerError(response, 404);
    } finally {
      await rm(part, { force: true });
    }
  }

  close(): void {
    this.#app.logger.exceptions.unhandle();
    this.#app.logger.close();
  }
}

/** s3rver asks the disk three times for each request what is the same all the time, and writes one file after another. */
const readLess = (store: S3Rver['store']): void => {
  const getBucket = store.getBucket.bind(store);
  const buckets = new Map<string, object>();
  store.getBucket = async (name) => {
    const bucket = buckets.get(name) ?? (await getBucket(name));
    if (bucket) buckets.set(name, bucket);
    return bucket;
  };
  const getSubresource = store.getSubresource.bind(store);
  // Buckets have neither: whom CORS lets in is decided before (cors.ts).
  store.getSubresource = async (bucket, key, type) =>
    key === undefined && (type === 'cors' || type === 'website') ? null : getSubresource(bucket, key, type);
  const putMetadata = store.putMetadata.bind(store);
  store.putMetadata = async (bucket, key, metadata, md5) => {
    const digest = md5 === undefined ? undefined : `${store.getResourcePath(bucket, key, 'object')}.md5`;
    await Promise.all([digest && writeFile(digest, md5 ?? ''), putMetadata(bucket, key, metadata)]);
  };
};

/** Read at once instead of through three streams. */
const smallBytes = 256 * 1024;

const isSmall = (content: unknown): content is IncomingMessage =>
  content instanceof Readable && Number(headersOf(content)['content-length'] ?? Number.NaN) <= smallBytes;

const putSmall = async (path: string, content: IncomingMessage): Promise<[size: number, md5: string]> => {
  const bytes = await buffer(content);
  await writeFile(path, bytes);
  return [bytes.length, createHash('md5').update(bytes).digest('hex')];
};

const codes = { 404: 'NoSuchKey', 412: 'PreconditionFailed' };

const answerError = (response: ServerResponse, status: keyof typeof codes): void =>
  void response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${codes[status]}</Code></Error>`);

const digest = async (path: string, algorithm: 'md5' | 'sha256'): Promise<Buffer> => {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest();
};

const refusal = (status: number, message: string): Error => Object.assign(new Error(message), { status, expose: true });

const headersOf = (content: unknown): IncomingMessage['headers'] =>
  (content as Partial<IncomingMessage> | null)?.headers ?? {};

/** S3 API: PutObject, Content-MD5 and x-amz-checksum-sha256; s3rver does not look at them. */
const checkDigests = async (content: unknown, path: string, md5: string): Promise<void> => {
  const { 'content-md5': wantedMd5, 'x-amz-checksum-sha256': wanted } = headersOf(content);
  if (wantedMd5 !== undefined && wantedMd5 !== Buffer.from(md5, 'hex').toString('base64')) {
    throw refusal(400, 'The Content-MD5 you specified did not match what we received.');
  }
  if (wanted !== undefined && wanted !== (await digest(path, 'sha256')).toString('base64')) {
    throw refusal(400, 'The SHA256 you specified did not match the calculated checksum.');
  }
};

/** S3 API: PutObject, If-None-Match; s3rver does not look at it. */
const isConditional = (content: unknown): boolean => headersOf(content)['if-none-match'] === '*';

const moveUnlessThere = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw refusal(412, 'At least one of the pre-conditions you specified did not hold');
  }
  await rm(from);
};

const signing = /^X-Amz-(Algorithm|Credential|Date|Expires|SignedHeaders|Signature|Security-Token|Content-Sha256)=/i;

const withoutSignature = (url: string): string => {
  const [path = '/', query] = url.split('?', 2);
  const kept = (query ?? '').split('&').filter((pair) => pair && !signing.test(pair));
  return kept.length ? `${path}?${kept.join('&')}` : path;
};
