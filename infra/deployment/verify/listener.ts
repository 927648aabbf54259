import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Receives the platform's requests to users' URLs. */

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Listener {
  /** Below an unguessable path. */
  url: string;
  received: Received[];
  close(): void;
}

const maxBytes = 1024 * 1024;

/**
 * @param publicUrl leads to that port of this machine; without it only programs on this machine reach the listener
 * @throws {Error} if the port is in use
 */
export const listen = async (publicUrl?: string, port = 0): Promise<Listener> => {
  const received: Received[] = [];
  const secret = randomBytes(16).toString('hex');
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    if (!path.includes(secret)) return void response.writeHead(404).end();
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of request as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) return void response.writeHead(413).end();
      parts.push(part);
    }
    received.push({ path, headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, publicUrl ? undefined : '127.0.0.1', resolve);
  });
  const base = publicUrl?.replace(/\/$/, '') ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `${base}/${secret}`, received, close };
};
