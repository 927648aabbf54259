import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import type { InvokeResult } from '#infra/local/aws/lambda/sandbox.ts';
import { newTraceId, type Usage } from '#infra/local/aws/lambda/usage.ts';
import { clientAddress, type Front, isForStorage, isFromThisMachine, noFront, publicUrlOf, schemeOf } from './front.ts';
import type { Health } from './health.ts';
import type { Home } from './home.ts';
import { decodedPath, httpEvent, writeAnswer, writeMessage } from './http-event.ts';
import { answerClientErrors } from './http-refusal.ts';
import type { Metrics } from './metrics.ts';
import type { OnAnswer } from './recorder.ts';
import { type Route, Router } from './routes.ts';

export interface HttpOptions {
  home: Home;
  apiId: string;
  routes: Route[];
  lambda: Lambda;
  usage: Usage;
  onAnswer?: OnAnswer;
  /** Proxies in front of the platform; none by default. */
  front?: Front;
  /** Why a path is not available now; undefined if it is. */
  refusal?(path: string): string | undefined;
  /** The storage, which functions name by `origin` in responses, and which {@link Front.storageUrl} replaces. */
  storage?: { origin: string; handle(request: IncomingMessage, response: ServerResponse): Promise<void> };
  /** Response at {@link healthPath}, which does not exist on AWS: its services have their own health checks. */
  health?(): Health;
  /** Response at {@link metricsPath}, for clients on this machine. */
  metrics?: Metrics;
}

/** Health check for load balancers. */
const healthPath = '/healthz';

/** For Prometheus; behind a proxy the path does not exist. */
const metricsPath = '/metrics';

/** HTTP APIs: quotas. */
const maxBody = 10 * 1024 * 1024;

/** HTTP APIs: request line and header values together. */
const maxHeaderSize = 10_240;

/** Timeouts of slow, incomplete and malformed requests, and of idle connections. In ms. */
const standardPatience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  handshakeTimeout: 10_000,
  /** Idle in both directions; longer than any function's timeout. */
  idleTimeout: 90_000,
};

/** Error 421: any other response would put a client's made-up host name into links, redirects and sign-ins. */
const misdirected = (host: string | undefined): string =>
  `${JSON.stringify(host ?? '')} is not an address of this platform. If a proxy serves it there, name the address in STEPFORM_PUBLIC_URL, e.g. https://stepform.example.com, and restart`;

/** The HTTP API: one listener for HTTP and one for HTTPS, with the same events to the same functions. */
export class HttpApi {
  readonly #serving = Promise.withResolvers<{ options: HttpOptions; router: Router }>();
  readonly #servers: Server[] = [];
  readonly #log: (line: string) => void;
  readonly #patience: typeof standardPatience;

  constructor(log: (line: string) => void, patience: typeof standardPatience = standardPatience) {
    this.#log = log;
    this.#patience = patience;
  }

  /** Functions need the port before they are created; requests that arrive earlier wait. */
  serve(options: HttpOptions): void {
    this.#serving.resolve({ options, router: new Router(options.routes) });
  }

  /**
   * Listens on the loopback interface, on both of its addresses if the machine has both: a client's resolver decides
   * which one `localhost` is.
   * @param tls certificate for HTTPS
   * @returns the port
   */
  async listen(port: number, tls?: { key: string; cert: string }): Promise<number> {
    const listener: RequestListener = (request, response) => {
      this.#handle(request, response).catch((error: Error) => {
        if (!request.complete) return response.destroy();
        this.#log(`${request.method} ${request.url}: ${error.stack}`);
        if (response.headersSent) response.destroy();
        else writeMessage(response, 500, 'Internal Server Error');
      });
    };
    const patience = this.#patience;
    const make = (): Server => {
      const options = { ...patience, maxHeaderSize };
      const server = tls ? createSecureServer({ ...options, ...tls }, listener) : createServer(options, listener);
      answerClientErrors(server);
      return server.setTimeout(patience.idleTimeout);
    };
    for (let attempt = 0; ; attempt++) {
      const first = make();
      const chosen = await listenOn(first, port, '127.0.0.1');
      const second = make();
      try {
        await listenOn(second, chosen, '::1');
        this.#servers.push(first, second);
        return chosen;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') {
          this.#servers.push(first);
          return chosen;
        }
        first.close();
        if (port !== 0 || attempt > 20) throw error;
      }
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { options, router } = await this.#serving.promise;
    const { front = noFront, storage } = options;
    // Objects have no limit of size; API Gateway is not in front of them.
    if (storage && isForStorage(request, front)) return storage.handle(request, response);
    const body = await readBody(request);
    if (body === undefined) {
      response.setHeader('connection', 'close');
      return writeMessage(response, 413, 'Request Entity Too Large');
    }
    const path = decodedPath(request.url ?? '/');
    if (path === undefined) return writeMessage(response, 400, 'Bad Request');
    // The host name is not checked, because load balancers call this path under various names and addresses.
    if (options.health && path === healthPath && (request.method === 'GET' || request.method === 'HEAD')) {
      const health = options.health();
      return writeMessage(response, health.status === 'ok' ? 200 : 503, health);
    }
    response.once('finish', () => options.metrics?.countResponse(response.statusCode));
    const scheme = schemeOf(request, front);
    if (!scheme) return writeMessage(response, 421, misdirected(request.headers.host));
    if (options.metrics && path === metricsPath && request.method === 'GET' && isFromThisMachine(request, front)) {
      const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
      return void response.writeHead(200, headers).end(options.metrics.text());
    }
    const refusal = options.refusal?.(path);
    if (refusal) {
      response.setHeader('retry-after', '5');
      return writeMessage(response, 503, refusal);
    }
    const match = router.find(request.method ?? 'GET', path);
    if (!match) return writeMessage(response, 404, 'Not Found');

    const { apiId, home, lambda, usage } = options;
    const trace = newTraceId();
    const sourceIp = clientAddress(request, front);
    const event = httpEvent({ request, body, path, match, home, apiId, trace, scheme, sourceIp });
    const result = await within(match.route.timeoutMs, lambda.invoke(match.route.functionArn, event, { trace })).catch(
      refusedByLambda,
    );
    usage.record(trace, 'apigateway', match.route.key, {}, `${request.method} ${path}`);
    if (result === 'too large') return writeMessage(response, 413, 'Request Entity Too Large');
    // A function that times out or is throttled (HTTP APIs: troubleshooting Lambda integrations).
    if (result === 'timeout' || result === 'throttled') return writeMessage(response, 503, 'Service Unavailable');
    if (result.failure) {
      this.#log(`${request.method} ${path}: ${result.failure.errorType}: ${result.failure.errorMessage}`);
      return writeMessage(response, 500, 'Internal Server Error');
    }
    options.onAnswer?.(request.method ?? 'GET', request.url ?? '/', result);
    const isPublic = storage && front.storageUrl && publicUrlOf(request, front) !== undefined;
    const shown = isPublic ? withOrigin(result, storage.origin, front.storageUrl?.origin ?? '') : result;
    writeAnswer(response, shown, request.method === 'HEAD');
  }

  /** Stops accepting requests; running ones may end until the returned promise settles or `closeAll` is called. */
  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeIdleConnections();
        return closed;
      }),
    );
  }

  closeAll(): void {
    for (const server of this.#servers) server.closeAllConnections();
  }
}

/** The response with another origin of the storage: in headers and in text, where each stands at the start of a URL. */
const withOrigin = (result: InvokeResult, from: string, to: string): InvokeResult => {
  const origin = new RegExp(`${from.replaceAll('.', '\\.')}(?!\\d)`, 'g');
  const replaced = <T>(value: T) => (typeof value === 'string' ? value.replaceAll(origin, to) : value);
  if (result.failure) return result;
  if (!result.http) return { ...result, payload: replaced(result.payload) };
  const { body, isBase64Encoded, headers = {} } = result.http;
  const shown = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, replaced(value)]));
  return { ...result, http: { ...result.http, headers: shown, body: isBase64Encoded ? body : replaced(body) } };
};

const listenOn = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });

const nothing = Buffer.alloc(0);

/** Undefined if it is too large; rejects if the connection breaks. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return nothing;
  if (Number(length ?? 0) > maxBody) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** A body below the API's limit can exceed Lambda's, above all in base64. */
const refusedByLambda = (error: Error): 'too large' | 'throttled' => {
  if (error.name === 'RequestTooLargeException') return 'too large';
  if (error.name === 'TooManyRequestsException') return 'throttled';
  throw error;
};

const within = async <T>(ms: number, work: Promise<T>): Promise<T | 'timeout'> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
