import type { IncomingHttpHeaders } from 'node:http';
import { AwsError } from '#infra/local/host/errors.ts';

export interface S3Request {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export interface S3Target {
  bucket: string;
  /** Decoded; empty for calls on the bucket. */
  key: string;
  /** As in IAM, without `s3:`. */
  action: 'GetObject' | 'HeadObject' | 'PutObject' | 'DeleteObject' | 'ListBucket' | 'ListAllMyBuckets';
  /** Source of a copy: `<bucket>/<key>`. */
  source?: string;
}

/**
 * The bucket, key and action of a path-style request.
 * @throws AwsError for keys that S3 or clients would not take
 */
export const readTarget = ({ method, url, headers }: Pick<S3Request, 'method' | 'url' | 'headers'>): S3Target => {
  const [path = '/'] = url.split('?', 1);
  const [bucket = '', ...rest] = decoded(path.slice(1)).split('/');
  const key = rest.join('/');
  checkKey(bucket, key);
  const source = headers['x-amz-copy-source'];
  if (typeof source !== 'string') return { bucket, key, action: actionOf(method, bucket, key) };
  const from = decoded(source).replace(/^\//, '');
  checkKey(...bucketAndKey(from));
  return { bucket, key, action: actionOf(method, bucket, key), source: from };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AwsError('InvalidURI', "Couldn't parse the specified URI.");
  }
};

export const bucketAndKey = (path: string): [bucket: string, key: string] => {
  const [bucket = '', ...rest] = path.split('/');
  return [bucket, rest.join('/')];
};

/** Amazon S3: object keys. */
const maxKeyBytes = 1024;

const checkKey = (bucket: string, key: string): void => {
  const parts = key ? key.split('/') : [];
  // Clients change such paths before they send them.
  const isRefused = (part: string) => part === '' || part === '.' || part === '..' || part.includes('\0');
  if (/^\.|[/\0]/.test(bucket) || parts.some(isRefused) || Buffer.byteLength(key) > maxKeyBytes)
    throw new AwsError(
      'InvalidURI',
      'The local S3 takes no key with a part that is empty, . or .., or over 1,024 bytes.',
    );
};

const actionOf = (method: string, bucket: string, key: string): S3Target['action'] => {
  if (!bucket && method === 'GET') return 'ListAllMyBuckets';
  if (bucket && !key && (method === 'GET' || method === 'HEAD')) return 'ListBucket';
  const actions = { GET: 'GetObject', HEAD: 'HeadObject', PUT: 'PutObject', DELETE: 'DeleteObject' } as const;
  const action = key ? actions[method as keyof typeof actions] : undefined;
  if (!action) throw new AwsError('MethodNotAllowed', `The local S3 has no ${method} of this resource.`, 405);
  return action;
};

/** Headers and parameters of the signature, which has been checked; ignored here. */
const anywhere =
  /^x-amz-(algorithm|credential|date|expires|signedheaders|signature|security-token|content-sha256|user-agent)$|^x-id$/i;
const ofList = /^(list-type|prefix|delimiter|continuation-token|start-after|max-keys|encoding-type|fetch-owner)$/;
const ofRead = /^x-amz-checksum-mode$/;
/** Parameters of a read. */
const ofGet = /^response-content-encoding$/;
const ofWrite = /^x-amz-(checksum-(sha256|crc32|algorithm)|sdk-checksum-algorithm|copy-source|copy-source-if-match)$/;

/** @throws AwsError NotImplemented for anything that would be ignored */
export const checkIsServed = ({ action }: S3Target, query: URLSearchParams, headers: IncomingHttpHeaders): void => {
  const refuse = (what: string) => {
    throw new AwsError('NotImplemented', `The local S3 does not serve ${what}.`, 501);
  };
  for (const name of query.keys())
    if (
      !anywhere.test(name) &&
      !(action === 'ListBucket' && ofList.test(name)) &&
      !(action === 'GetObject' && ofGet.test(name))
    )
      refuse(`the parameter ${name} here`);
  for (const name of Object.keys(headers))
    if (name.startsWith('x-amz-') && !anywhere.test(name) && !(action === 'PutObject' ? ofWrite : ofRead).test(name))
      refuse(`the header ${name} here`);
  if (String(headers['x-amz-content-sha256']).startsWith('STREAMING-')) refuse('uploads in signed chunks');
  if (action !== 'PutObject') return;
  if (![undefined, '*'].includes(headers['if-none-match'])) refuse('If-None-Match with an ETag');
  if (headers['if-match'] !== undefined) refuse('If-Match of uploads');
};
