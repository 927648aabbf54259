import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AwsError } from '#infra/local/host/errors.ts';

/** The signer that a request claims; `verify` checks the claim. */
export interface Signature {
  accessKeyId: string;
  /** Service of the credential scope, e.g. `dynamodb`. */
  service: string;
  region: string;
  /** yyyymmdd of the scope. */
  date: string;
  /** yyyymmddThhmmssZ. */
  time: string;
  signedHeaders: string[];
  signature: string;
  sessionToken?: string;
  /** Seconds; only of presigned URLs. */
  expires?: number;
}

export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer | KeyObject, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();

/** RFC 3986, as SigV4 requires. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

const splitUrl = (url: string): [path: string, query: string] => {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
};

/** Undefined for a request without a SigV4 signature. Throws for a malformed one. */
export const readSignature = (request: IncomingMessage): Signature | undefined => {
  const { authorization } = request.headers;
  if (authorization?.startsWith('AWS4-HMAC-SHA256 ')) {
    const part = (name: string) => new RegExp(`${name}=([^,\\s]+)`).exec(authorization)?.[1];
    return parts(part('Credential'), {
      time: header(request, 'x-amz-date'),
      signedHeaders: part('SignedHeaders'),
      signature: part('Signature'),
      sessionToken: header(request, 'x-amz-security-token'),
    });
  }
  const [, query] = splitUrl(request.url ?? '/');
  if (!query.includes('X-Amz-Signature=')) return undefined;
  const parameters = new URLSearchParams(query);
  const get = (name: string) => parameters.get(name) ?? undefined;
  return parts(get('X-Amz-Credential'), {
    time: get('X-Amz-Date'),
    signedHeaders: get('X-Amz-SignedHeaders'),
    signature: get('X-Amz-Signature'),
    sessionToken: get('X-Amz-Security-Token'),
    expires: Number(get('X-Amz-Expires') ?? Number.NaN),
  });
};

const header = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
};

const parts = (
  credential: string | undefined,
  rest: { time?: string; signedHeaders?: string; signature?: string; sessionToken?: string; expires?: number },
): Signature => {
  const [accessKeyId, date, region, service, end] = credential?.split('/') ?? [];
  if (!accessKeyId || !date || !region || !service || end !== 'aws4_request' || !rest.signature || !rest.time)
    throw new AwsError('IncompleteSignature', 'The request signature is incomplete.', 403);
  const signedHeaders = rest.signedHeaders?.split(';') ?? [];
  return { ...rest, accessKeyId, date, region, service, time: rest.time, signedHeaders, signature: rest.signature };
};

const signingKeys = new Map<string, KeyObject>();

const signingKey = (secret: string, { date, region, service }: Signature): KeyObject => {
  const id = `${secret}/${date}/${region}/${service}`;
  let key = signingKeys.get(id);
  if (!key) {
    key = createSecretKey(hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), 'aws4_request'));
    if (signingKeys.size > 1000) signingKeys.clear();
    signingKeys.set(id, key);
  }
  return key;
};

/**
 * Checks a signature (AWS General Reference: Signature Version 4).
 * @param payloadHash hex SHA-256 of the body, or its substitute (`UNSIGNED-PAYLOAD`)
 * @throws AwsError 403 if it does not match or has expired
 */
export const verify = (request: IncomingMessage, signature: Signature, secret: string, payloadHash: string): void => {
  const signedAt = Date.parse(
    signature.time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  const age = Date.now() - signedAt;
  if (signature.expires === undefined ? !(Math.abs(age) <= 900_000) : !(age <= signature.expires * 1000))
    throw new AwsError(
      signature.service === 's3' ? 'AccessDenied' : 'InvalidSignatureException',
      'Request has expired',
      403,
    );
  const [path, query] = splitUrl(request.url ?? '/');
  const canonical = [
    request.method,
    // S3 signs the path as it is sent; every other service encodes it once more.
    signature.service === 's3' ? path : path.split('/').map(encode).join('/'),
    canonicalQuery(query),
    ...signature.signedHeaders.map((name) => `${name}:${(header(request, name) ?? '').trim().replaceAll(/ +/g, ' ')}`),
    '',
    signature.signedHeaders.join(';'),
    payloadHash,
  ].join('\n');
  const scope = `${signature.date}/${signature.region}/${signature.service}/aws4_request`;
  const expected = hmac(
    signingKey(secret, signature),
    `AWS4-HMAC-SHA256\n${signature.time}\n${scope}\n${sha256(canonical)}`,
  );
  const given = Buffer.from(signature.signature, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new AwsError(
      signature.service === 's3' ? 'SignatureDoesNotMatch' : 'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
      403,
    );
};

const canonicalQuery = (query: string): string =>
  query
    .split('&')
    .filter((pair) => pair && !pair.startsWith('X-Amz-Signature='))
    .map((pair) => {
      const equals = pair.indexOf('=');
      const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return [encode(decode(name)), encode(decode(value))] as const;
    })
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch {
    return text;
  }
};
