import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An S3 that keeps objects in memory and does not authenticate requests; supports copies. */
export class Objects {
  readonly #objects = new Map<string, Buffer>();

  /** By key, without the bucket. */
  get(key: string): Buffer | undefined {
    return this.#objects.get(key);
  }

  put(key: string, content: string): void {
    this.#objects.set(key, Buffer.from(content));
  }

  serve({ method, url = '', headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const key = keyIn(url);
    const from = headers['x-amz-copy-source'];
    if (method === 'PUT') {
      const source = from === undefined ? body : this.#objects.get(keyIn(String(from)));
      if (!source) return void response.writeHead(404).end();
      const expectedTag = headers['x-amz-copy-source-if-match'];
      const taken = headers['if-none-match'] === '*' && this.#objects.has(key);
      if (taken || (expectedTag !== undefined && expectedTag !== etagOf(source)))
        return void response.writeHead(412).end();
      this.#objects.set(key, source);
      const sha256 = createHash('sha256').update(source).digest('base64');
      const copied = `<CopyObjectResult><ChecksumSHA256>${sha256}</ChecksumSHA256></CopyObjectResult>`;
      return void response.writeHead(200).end(from === undefined ? '' : copied);
    }
    const stored = this.#objects.get(key);
    if (!stored) return void response.writeHead(404).end();
    response.setHeader('etag', etagOf(stored));
    if (headers['x-amz-checksum-mode']) {
      response.setHeader('x-amz-checksum-sha256', createHash('sha256').update(stored).digest('base64'));
    }
    if (method === 'HEAD') return void response.writeHead(200, { 'content-length': stored.length }).end();
    const range = /bytes=(\d+)-(\d+)/.exec(headers.range ?? '');
    if (!range) return void response.writeHead(200).end(stored);
    const part = stored.subarray(Number(range[1]), Number(range[2]) + 1);
    response.writeHead(206, { 'content-range': `bytes ${range[1]}-${range[2]}/${stored.length}` }).end(part);
  }
}

const etagOf = (content: Buffer): string => JSON.stringify(createHash('md5').update(content).digest('hex'));

const keyIn = (path: string): string => decodeURIComponent((path.split('?')[0] ?? '').split('/').slice(2).join('/'));
