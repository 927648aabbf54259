import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { RefusedError, TransportError } from '../transport/errors.ts';
import { open } from '../transport/http.ts';
import { retryFor, retrying } from '../transport/retry.ts';

/** Downloads of released programs over HTTP. The caller verifies the content. */

/** For lists, checksums and signatures, which are small. */
const smallMs = 10_000;
/** Retries of connection errors, which fail fast. */
const againMs = 2000;
const wholeMs = 300_000;
const idleMs = 10_000;
const maxRedirects = 5;

const answered = (url: string, status: number): void => {
  if (status === 200) return;
  if (status >= 500 || status === 429) throw new TransportError(`${url}: HTTP ${status}`);
  throw new RefusedError(`${url}: HTTP ${status}`, status);
};

const redirected = (from: string, location: string | undefined): string => {
  const to = new URL(location ?? '', from);
  if (to.protocol !== new URL(from).protocol) throw new Error(`${from} redirects to another protocol`);
  return to.href;
};

const get = async (url: string, signal: AbortSignal) => {
  let address = url;
  for (let n = 0; n <= maxRedirects; n++) {
    const answer = await open(address, { method: 'GET', signal, idleMs });
    const status = answer.statusCode ?? 0;
    if (status < 300 || status >= 400) {
      if (status !== 200) answer.resume();
      answered(url, status);
      return answer;
    }
    answer.resume();
    address = redirected(address, answer.headers.location);
  }
  throw new Error(`${url}: too many redirects`);
};

/** @throws {TransportError | RefusedError} */
export const fetchSmall = async (url: string, signal: AbortSignal): Promise<Buffer> => {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(smallMs)]);
  return retrying(
    async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of await get(url, bounded)) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
    retryFor(againMs, bounded),
  );
};

/**
 * Returns the hex SHA-256 of the written file.
 * @throws {TransportError | RefusedError}
 */
export const fetchFile = async (url: string, file: string, signal: AbortSignal): Promise<string> => {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(wholeMs)]);
  const hash = createHash('sha256');
  await pipeline(
    await get(url, bounded),
    async function* (source) {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(file),
    { signal: bounded },
  );
  return hash.digest('hex');
};
