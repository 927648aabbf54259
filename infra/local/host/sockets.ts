import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import { AwsError } from './errors.ts';

/**
 * The WebSocket API: asks the function of its `$connect` route about each connection, and sends what functions post to it
 * (API Gateway: WebSocket APIs; RFC 6455). Clients have nothing to say but pings and that they go.
 */

export interface SocketsOptions {
  functionArn: string;
  lambda: Lambda;
}

/** WebSocket APIs: quotas. */
const maxMessage = 128 * 1024;
const maxClientFrame = 64 * 1024;
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;

const frame = (opcode: number, payload: Buffer): Buffer => {
  const { length } = payload;
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, length])
      : length < 65_536
        ? Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff])
        : Buffer.from([
            0x80 | opcode,
            127,
            0,
            0,
            0,
            0,
            length >>> 24,
            (length >> 16) & 0xff,
            (length >> 8) & 0xff,
            length & 0xff,
          ]);
  return Buffer.concat([head, payload]);
};

interface Frame {
  opcode: number;
  payload: Buffer;
  rest: Buffer;
}

/** The first frame of what came; undefined while it is not whole. @throws {Error} for what no client sends here */
const readFrame = (bytes: Buffer): Frame | undefined => {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  if (!(second & 0x80)) throw new Error('a client must mask its frames');
  let length = second & 0x7f;
  let at = 2;
  if (length === 127) throw new Error('frame too large');
  if (length === 126) {
    if (bytes.length < 4) return undefined;
    length = bytes.readUInt16BE(2);
    at = 4;
  }
  if (length > maxClientFrame) throw new Error('frame too large');
  if (bytes.length < at + 4 + length) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + length));
  for (let i = 0; i < length; i++) payload[i] = (payload[i] as number) ^ (mask[i % 4] as number);
  return { opcode: first & 0x0f, payload, rest: bytes.subarray(at + 4 + length) };
};

export class Sockets {
  readonly #serving = Promise.withResolvers<SocketsOptions>();
  readonly #connections = new Map<string, Socket>();
  readonly #log: (line: string) => void;
  readonly #server: Server;

  constructor(log: (line: string) => void) {
    this.#log = log;
    this.#server = createServer((_, response) => response.writeHead(426, { connection: 'close' }).end());
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      this.#connect(request, socket).catch((error: Error) => {
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
    for (const socket of this.#connections.values()) socket.destroy();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** What a function posts to a connection. @throws AwsError GoneException */
  async post(connectionId: string, message: Buffer): Promise<void> {
    if (message.length > maxMessage) throw new AwsError('PayloadTooLargeException', 'Message too large', 413);
    const socket = this.#connections.get(connectionId);
    if (!socket) throw new AwsError('GoneException', 'The connection is gone', 410);
    // Whoever reads slowly slows the function down, as API Gateway does.
    if (socket.write(frame(opcodes.text, message))) return;
    await new Promise<void>((resolve) => {
      socket.once('drain', resolve);
      socket.once('close', () => resolve());
    });
  }

  /** @throws AwsError GoneException */
  end(connectionId: string): void {
    const socket = this.#connections.get(connectionId);
    if (!socket) throw new AwsError('GoneException', 'The connection is gone', 410);
    this.#connections.delete(connectionId);
    socket.end(frame(opcodes.close, Buffer.from([0x03, 0xe8])));
  }

  async #connect(request: IncomingMessage, socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const key = request.headers['sec-websocket-key'];
    const version = request.headers['sec-websocket-version'];
    if (request.method !== 'GET' || !key || version !== '13') return refuse(socket, '400 Bad Request');
    const { functionArn, lambda } = await this.#serving.promise;
    const connectionId = `${randomBytes(11).toString('base64url')}=`;
    const { failure, payload } = await lambda.invoke(functionArn, JSON.stringify(connectEvent(request, connectionId)));
    const statusCode = failure ? 500 : Number((JSON.parse(payload) as { statusCode?: number } | null)?.statusCode);
    if (statusCode !== 200)
      return refuse(socket, statusCode === 401 ? '401 Unauthorized' : '500 Internal Server Error');
    const accept = createHash('sha1').update(`${key}${guid}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    this.#connections.set(connectionId, socket);
    socket.on('close', () => this.#connections.delete(connectionId));
    this.#listen(socket);
  }

  #listen(socket: Socket): void {
    let bytes = Buffer.alloc(0);
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      try {
        for (let next = readFrame(bytes); next; next = readFrame(bytes)) {
          bytes = Buffer.from(next.rest);
          if (next.opcode === opcodes.ping) socket.write(frame(opcodes.pong, next.payload));
          if (next.opcode === opcodes.close) socket.end(frame(opcodes.close, next.payload.subarray(0, 2)));
        }
      } catch {
        socket.destroy();
      }
    });
  }
}

const refuse = (socket: Socket, status: string): void => {
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
