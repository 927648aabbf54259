import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RefusedError, TransportError } from '#platform/net/transport/errors.ts';
import { type FileBody, open, send } from '#platform/net/transport/http.ts';
import { type RetryBound, retrying } from '#platform/net/transport/retry.ts';
import { PhaseError } from './errors.ts';

/** Transfers objects by presigned URLs: without credentials, and without signatures in error messages. */

/**
 * Errors of interrupted transfers, although storage returns status 400 (S3: error responses), and of an upload that meets
 * another one of the same object (S3: conditional writes).
 */
const passing = ['RequestTimeout', 'IncompleteBody', 'ConditionalRequestConflict'];

/** The error for a response of storage; an expired presigned URL is {@link isExpired}. */
const refusal = (action: 'upload' | 'download', status: number, body: string): Error => {
  const code = /<Code>(\w+)<\/Code>/.exec(body)?.[1];
  const message = `${action}: HTTP ${status} ${body.slice(0, 300)}`.trimEnd();
  const isRetryable = status >= 500 || status === 408 || status === 429 || passing.includes(code ?? '');
  return isRetryable ? new TransportError(message) : new RefusedError(message, status, code);
};

/** For objects that may be created only once (protocol.ts: UploadsAnswer). */
export const createOnly = { 'if-none-match': '*' };
/**
 * The object already exists: an earlier attempt stored it and its response was lost. Different content fails the
 * checksum.
 */
const isThere = 412;

/** Stores an object under a presigned URL. @throws {RefusedError} {@link isExpired} if the URL has expired */
export const upload = async (
  url: string,
  body: Uint8Array | FileBody,
  patience: RetryBound,
  headers: Record<string, string> = {},
): Promise<void> =>
  retrying(async () => {
    const { status, body: answer } = await send(url, { method: 'PUT', headers, body, signal: patience.signal });
    if ((status >= 200 && status < 300) || (status === isThere && 'if-none-match' in headers)) return;
    throw refusal('upload', status, answer.toString('utf8'));
  }, patience);

/**
 * Passes the object to `read`, again from the start if the transfer breaks off.
 * @param what name of the object in messages: "the configuration"
 * @throws {PhaseError} if storage does not have the object or does not return it
 */
export const download = async <T>(
  object: string,
  url: string,
  patience: RetryBound,
  read: (body: Readable) => Promise<T>,
): Promise<T> => {
  try {
    return await retrying(() => attempt(url, patience, read), patience);
  } catch (error) {
    if (error instanceof RefusedError) {
      const reason =
        error.status === 404
          ? 'is not in storage'
          : `could not be read from storage (HTTP ${[error.status, error.code].filter(Boolean).join(' ')})`;
      throw new PhaseError(`${object} ${reason}: upload it again and start a new run.`);
    }
    if (error instanceof TransportError) {
      throw new PhaseError(`${object} could not be downloaded (${error.message}): start a new run.`);
    }
    throw error;
  }
};

const attempt = async <T>(url: string, { signal }: RetryBound, read: (body: Readable) => Promise<T>): Promise<T> => {
  const body = await open(url, { method: 'GET', signal });
  const status = body.statusCode ?? 0;
  if (status !== 200) {
    throw refusal('download', status, await beginningOf(body));
  }
  let broken: Error | undefined;
  body.on('error', (error) => {
    broken = error;
  });
  try {
    return await read(body);
  } catch (error) {
    // The reader only knows that its input ended; report the cause.
    if (broken) throw new TransportError(`download: ${broken.message}`, { cause: broken });
    throw error;
  }
};

const maxRefusal = 4096;

const beginningOf = async (body: Readable): Promise<string> => {
  let text = '';
  try {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.length > maxRefusal) break;
    }
  } catch {
    // The status is enough.
  }
  return text;
};

/** Hex SHA-256 of the upload. */
export const sha256Of = async (body: Uint8Array | FileBody): Promise<string> => {
  const hash = createHash('sha256');
  if (body instanceof Uint8Array) return hash.update(body).digest('hex');
  if (body.size > 0) for await (const chunk of createReadStream(body.file, { end: body.size - 1 })) hash.update(chunk);
  return hash.digest('hex');
};

/**
 * Writes a download to a file, and rejects content that does not match its recorded checksum, or has none.
 * @param what name of the object in messages: "The configuration"
 * @param checksum `sha256:<hex>` or `md5:<hex>`
 * @throws {PhaseError}
 */
export const toFile =
  (path: string, what: string, checksum: string | undefined) =>
  async (body: Readable): Promise<void> => {
    const [algorithm = 'sha256', recorded] = checksum?.split(':') ?? [];
    const hash = createHash(algorithm);
    const hashing = async function* (source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(body, hashing, createWriteStream(path, { mode: 0o600 }));
    if (hash.digest('hex') !== recorded) {
      throw new PhaseError(
        `${what} in storage is damaged: its ${algorithm} checksum does not match the recorded one. It was not used. Upload it again and start a new run.`,
      );
    }
  };
