import { createHash } from 'node:crypto';
import type { AwsResponse, Call } from '#platform/store/services.ts';

/** An S3 that keeps objects in memory; supports copies. */
export class Objects {
  readonly #objects = new Map<string, Buffer>();

  /** By key, without the bucket. */
  get(key: string): Buffer | undefined {
    return this.#objects.get(key);
  }

  put(key: string, content: string): void {
    this.#objects.set(key, Buffer.from(content));
  }

  request(url: string, { method, headers = {}, body = '' }: Call): AwsResponse {
    const key = keyIn(new URL(url).pathname);
    const from = headers['x-amz-copy-source'];
    if (method === 'PUT') {
      const source = from === undefined ? Buffer.from(body as string) : this.#objects.get(keyIn(from));
      if (!source) return answer(404);
      const expectedTag = headers['x-amz-copy-source-if-match'];
      const taken = headers['if-none-match'] === '*' && this.#objects.has(key);
      if (taken || (expectedTag !== undefined && expectedTag !== etagOf(source))) return answer(412);
      this.#objects.set(key, source);
      const copied = `<CopyObjectResult><ChecksumSHA256>${digestOf(source)}</ChecksumSHA256></CopyObjectResult>`;
      return answer(200, {}, Buffer.from(from === undefined ? '' : copied));
    }
    const stored = this.#objects.get(key);
    if (!stored) return answer(404);
    const about = {
      etag: etagOf(stored),
      'content-length': String(stored.length),
      ...(headers['x-amz-checksum-mode'] ? { 'x-amz-checksum-sha256': digestOf(stored) } : {}),
    };
    if (method === 'HEAD') return answer(200, about);
    const range = /bytes=(\d+)-(\d+)/.exec(headers.range ?? '');
    if (!range) return answer(200, about, stored);
    const part = stored.subarray(Number(range[1]), Number(range[2]) + 1);
    return answer(206, { ...about, 'content-range': `bytes ${range[1]}-${range[2]}/${stored.length}` }, part);
  }
}

const answer = (status: number, headers: Record<string, string> = {}, body: Buffer = Buffer.alloc(0)): AwsResponse => ({
  status,
  headers,
  body,
});

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('base64');

const etagOf = (content: Buffer): string => JSON.stringify(createHash('md5').update(content).digest('hex'));

/** Without the bucket. */
const keyIn = (path: string): string => decodeURIComponent(path.split('/').slice(2).join('/'));
