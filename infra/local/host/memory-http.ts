import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { AwsRequest } from './calls.ts';

/** What a library that answers HTTP requests reads and writes, without a connection. */

/** @param headers with names in lower case */
export const memoryRequest = ({ method, url, headers, body }: AwsRequest): IncomingMessage => {
  const request = new IncomingMessage(new Socket());
  const own = { host: 'localhost', ...headers, 'content-length': String(body.length) };
  Object.assign(request, { method, url, headers: own });
  Object.assign(request, { complete: true, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
  request.push(body);
  request.push(null);
  return request;
};

/** Keeps the answer, and tells when it is whole, or that there will be none. */
export class MemoryResponse extends ServerResponse {
  readonly #parts: Buffer[] = [];
  readonly #whole = Promise.withResolvers<Buffer>();

  constructor(request: IncomingMessage) {
    super(request);
    this.#whole.promise.catch(() => {});
  }

  /** Rejects when the answer is given up. */
  get whole(): Promise<Buffer> {
    return this.#whole.promise;
  }

  get kept(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.getHeaders() as OutgoingHttpHeaders).map(([name, value]) => [name, String(value)]),
    );
  }

  override write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    this.#keep(chunk);
    callback(rest)?.();
    return true;
  }

  override end(...parameters: unknown[]): this {
    if (this.finished) return this;
    const [chunk] = parameters;
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.#keep(chunk);
    this.finished = true;
    this.#whole.resolve(Buffer.concat(this.#parts));
    this.emit('finish');
    callback(parameters)?.();
    return this;
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    this.statusCode = status;
    const headers = rest.find((one) => typeof one === 'object') as OutgoingHttpHeaders | undefined;
    for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined) this.setHeader(name, value);
    return this;
  }

  override destroy(error?: Error): this {
    this.#whole.reject(error ?? new Error('no answer'));
    return this;
  }

  #keep(chunk: string | Uint8Array): void {
    this.#parts.push(Buffer.from(chunk as Uint8Array));
  }
}

const callback = (parameters: unknown[]): (() => void) | undefined =>
  parameters.find((one) => typeof one === 'function') as (() => void) | undefined;
