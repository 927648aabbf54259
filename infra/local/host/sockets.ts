import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import { AwsError } from './errors.ts';

/**
 * The WebSocket API: invokes the function of its `$connect` route for each connection, and sends the messages that
 * functions post (API Gateway: WebSocket APIs). Clients send only pings and the close.
 */

export interface SocketsOptions {
  functionArn: string;
  lambda: Lambda;
}

/** WebSocket APIs: quotas. */
const maxMessage = 128 * 1024;
const maxClientMessage = 64 * 1024;

export class Sockets {
  readonly #serving = Promise.withResolvers<SocketsOptions>();
  readonly #connections = new Map<string, WebSocket>();
  readonly #protocol = new WebSocketServer({ noServer: true, maxPayload: maxClientMessage });
  readonly #log: (line: string) => void;
  readonly #server: Server;

  constructor(log: (line: string) => void) {
    this.#log = log;
    this.#server = createServer((_, response) => response.writeHead(426, { connection: 'close' }).end());
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#connect(request, socket, head).catch((error: Error) => {
        this.#log(`WebSocket ${request.url?.split('?')[0]}: ${error.message}`);
        socket.destroy();
      });
    });
  }

  serve(options: SocketsOptions): void {
    this.#serving.resolve(options);
  }

  /** @returns the port */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#connections.values()) socket.terminate();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /**
   * Posts a function's message to a connection.
   * @throws AwsError GoneException
   */
  async post(connectionId: string, message: Buffer): Promise<void> {
    if (message.length > maxMessage) throw new AwsError('PayloadTooLargeException', 'Message too large', 413);
    const socket = this.#connections.get(connectionId);
    if (!socket) throw new AwsError('GoneException', 'The connection is gone', 410);
    // A slow reader slows the function down, as on API Gateway.
    await new Promise<void>((resolve) => socket.send(message, { binary: false }, () => resolve()));
  }

  /** @throws AwsError GoneException */
  end(connectionId: string): void {
    const socket = this.#connections.get(connectionId);
    if (!socket) throw new AwsError('GoneException', 'The connection is gone', 410);
    this.#connections.delete(connectionId);
    socket.close(1000);
  }

  async #connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const { functionArn, lambda } = await this.#serving.promise;
    const connectionId = `${randomBytes(11).toString('base64url')}=`;
    const { failure, payload } = await lambda.invoke(functionArn, JSON.stringify(connectEvent(request, connectionId)));
    const statusCode = failure ? 500 : Number((JSON.parse(payload) as { statusCode?: number } | null)?.statusCode);
    if (statusCode !== 200)
      return refuse(socket, statusCode === 401 ? '401 Unauthorized' : '500 Internal Server Error');
    this.#protocol.handleUpgrade(request, socket, head, (connection) => {
      this.#connections.set(connectionId, connection);
      connection.on('error', () => connection.terminate());
      connection.on('close', () => this.#connections.delete(connectionId));
    });
  }
}

const refuse = (socket: Duplex, status: string): void => {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
};

/** API Gateway: WebSocket APIs, Lambda proxy integration. */
const connectEvent = (request: IncomingMessage, connectionId: string) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  return {
    headers: { Host: request.headers.host },
    queryStringParameters: Object.fromEntries(searchParams),
    requestContext: { routeKey: '$connect', eventType: 'CONNECT', connectionId, stage: 'logs', apiId: 'local' },
    isBase64Encoded: false,
  };
};
