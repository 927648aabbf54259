import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Accesses } from '#infra/local/aws/iam/access.ts';
import { readSignature, type Signature, sha256 } from '#infra/local/aws/iam/signature.ts';
import type { Usage } from '#infra/local/aws/lambda/usage.ts';
import { S3Calls } from '#infra/local/aws/s3/s3-calls.ts';
import type { Services } from '#platform/store/services.ts';
import { answer, answerError, read, reply, sendReply } from './answers.ts';
import type { Caller, Callers } from './callers.ts';
import { Calls, type HostedServices } from './calls.ts';
import type { Cors } from './cors.ts';
import { AwsError } from './errors.ts';
import type { Faults } from './faults.ts';
import { Gate } from './gate.ts';
import { operate } from './operator.ts';
import { type Serving, servicesOf } from './services.ts';

export interface EndpointOptions {
  callers: Callers;
  accesses: Accesses;
  cors: Cors;
  faults: Faults;
  usage: Usage;
  services: HostedServices;
}

/**
 * All AWS APIs that the product uses: on one port of the loopback interface with signatures, and in memory for the
 * functions of this process. The only place with behaviour that exists only locally.
 */
export class Endpoint {
  readonly #serving = Promise.withResolvers<EndpointOptions & Serving>();
  readonly #server: Server;
  readonly #log: (line: string) => void;
  #calls: Calls | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      this.#handle(request, response).catch((error: unknown) =>
        answerError(request, response, error as Error, this.#log),
      );
    });
  }

  /** Functions need the port before they are created; calls that arrive earlier wait. */
  serve(options: EndpointOptions): void {
    const { accesses, faults, services, usage } = options;
    const log = this.#log;
    const gate = new Gate({ faults, lambda: services.lambda, usage, log });
    this.#calls = new Calls({ accesses, gate, services, usage, log });
    const s3 = new S3Calls({ accesses, gate, s3: services.s3, usage });
    this.#serving.resolve({ ...options, calls: this.#calls, s3, log });
  }

  /** @returns the port. Never listens on `0.0.0.0`: any client that reached it could use the operator's permissions. */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#calls?.close();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /**
   * The services for a function in this process.
   * @param traceHeader of the running invocation
   */
  servicesOf(caller: Caller, traceHeader: () => string | undefined): Services {
    return servicesOf(this.#serving.promise, caller, traceHeader);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const serving = await this.#serving.promise;
    const operated = await operate(request, serving, () => read(request));
    if (operated) return sendReply(response, reply(200, 'application/json', JSON.stringify(operated)));
    if (serving.cors.apply(request, response)) return;
    const signature = readSignature(request);
    if (signature?.service === 's3' || (!signature && !request.headers['x-amz-target']))
      return this.#s3(request, response, signature, serving);
    const body = await read(request);
    const caller = serving.callers.identify(request, signature, sha256(body));
    const { method = 'POST', url = '/', headers } = request;
    sendReply(response, await answer(serving.calls, { method, url, headers, body }, caller, signature?.service));
  }

  /**
   * A request to the storage from another machine, through a proxy: only with the signature of a presigned URL. Functions
   * sign for this port, so the proxy's host name is replaced before the check.
   * @param host of {@link listen}, e.g. `127.0.0.1:35001`
   */
  async handleFromProxy(request: IncomingMessage, response: ServerResponse, host: string): Promise<void> {
    const serving = await this.#serving.promise;
    try {
      if (serving.cors.apply(request, response)) return;
      const signature = readSignature(request);
      if (signature?.service !== 's3' || signature.expires === undefined)
        throw new AwsError('AccessDenied', 'Only signed URLs are served at this address.', 403);
      request.headers.host = host;
      await this.#s3(request, response, signature, serving);
    } catch (error) {
      answerError(request, response, error as Error, this.#log);
    }
  }

  async #s3(
    request: IncomingMessage,
    response: ServerResponse,
    signature: Signature | undefined,
    { callers, s3 }: EndpointOptions & Serving,
  ): Promise<void> {
    const presigned = signature?.expires !== undefined;
    const hash = presigned ? 'UNSIGNED-PAYLOAD' : String(request.headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD');
    const caller = callers.identify(request, signature, hash);
    const { method = 'GET', url = '/', headers } = request;
    const reply = await s3.answer({ method, url, headers, body: request }, caller, signature?.signature);
    response.writeHead(reply.status, reply.headers);
    await pipeline(reply.body instanceof Buffer ? [reply.body] : reply.body, response);
  }
}
