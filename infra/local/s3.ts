import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { AwsError } from './errors.ts';

const load = createRequire(import.meta.url);

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
type Content = (path: string, content: unknown) => Promise<[size: number, md5: string]>;
interface S3Rver {
  store: {
    putContent: Content;
    getObject(bucket: string, key: string, options?: object): Promise<S3Object | null>;
    putBucket(name: string): Promise<unknown>;
    existsObject(bucket: string, key: string): Promise<boolean>;
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

  constructor(folder: string, onCreated: (object: ObjectCreated) => void) {
    mkdirSync(folder, { recursive: true });
    const App = load('@20minutes/s3rver') as new (options: object) => S3Rver;
    this.#app = new App({ directory: folder, silent: true, vhostBuckets: false });
    const { store } = this.#app;
    const put = store.putContent.bind(store);
    store.putContent = async (path, content) => {
      const part = `${path}.${randomBytes(6).toString('hex')}.part`;
      try {
        const result = await put(part, content);
        checkDigest(content, result[1]);
        await rename(part, path);
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
    await this.#handler(request, response);
  }

  close(): void {
    this.#app.logger.exceptions.unhandle();
    this.#app.logger.close();
  }
}

/** S3 API: PutObject, Content-MD5; s3rver does not look at it. */
const checkDigest = (content: unknown, md5: string): void => {
  const announced = (content as Partial<IncomingMessage> | null)?.headers?.['content-md5'];
  if (announced === undefined || announced === Buffer.from(md5, 'hex').toString('base64')) return;
  throw Object.assign(new Error('The Content-MD5 you specified did not match what we received.'), {
    status: 400,
    expose: true,
  });
};

const signing = /^X-Amz-(Algorithm|Credential|Date|Expires|SignedHeaders|Signature|Security-Token|Content-Sha256)=/i;

const withoutSignature = (url: string): string => {
  const [path = '/', query] = url.split('?', 2);
  const kept = (query ?? '').split('&').filter((pair) => pair && !signing.test(pair));
  return kept.length ? `${path}?${kept.join('&')}` : path;
};
