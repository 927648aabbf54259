import type { IncomingMessage, ServerResponse } from 'node:http';

/** An S3 that keeps objects in memory and asks nobody who they are; what it is asked to copy, it copies. */
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
      this.#objects.set(key, source);
      return void response.writeHead(200).end(from === undefined ? '' : '<CopyObjectResult/>');
    }
    const found = this.#objects.get(key);
    if (!found) return void response.writeHead(404).end();
    if (method === 'HEAD') return void response.writeHead(200, { 'content-length': found.length }).end();
    const range = /bytes=(\d+)-(\d+)/.exec(headers.range ?? '');
    if (!range) return void response.writeHead(200).end(found);
    const part = found.subarray(Number(range[1]), Number(range[2]) + 1);
    response.writeHead(206, { 'content-range': `bytes ${range[1]}-${range[2]}/${found.length}` }).end(part);
  }
}

const keyIn = (path: string): string => decodeURIComponent((path.split('?')[0] ?? '').split('/').slice(2).join('/'));
