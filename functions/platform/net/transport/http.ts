import { createReadStream } from 'node:fs';
import type http from 'node:http';
import { pipeline } from 'node:stream/promises';
import { TransportError } from './errors.ts';
import { isLoopback } from './plain-http.ts';

/**
 * HTTP by Node's own client: loading `fetch` costs a runner 15 ms before its first call and 3 ms in each later one.
 * `import` of `node:http` would load 40 ms of it too, because an `import` reads every export, including the WebSocket.
 */
const { Agent } = process.getBuiltinModule('node:http');
const { Agent: SecureAgent, request: begin } = process.getBuiltinModule('node:https');

export interface FileBody {
  file: string;
  /** Bytes; the file must have at least as many. */
  size: number;
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: Uint8Array | FileBody;
  /** The call fails after this long without receiving a byte. */
  idleMs?: number;
  signal?: AbortSignal;
  /** Called once the whole request has been sent. */
  onSent?: () => void;
  /** PEM certificates to trust instead of the usual authorities. */
  ca?: string[];
}

export interface Answer {
  status: number;
  body: Buffer;
}

const defaultIdleMs = 20_000;
const maxAnswer = 32 * 1024 * 1024;

const agents = new Map<string, http.Agent>();

/** Proxies come from the environment, as for Terraform; never used for this machine itself. */
const agentFor = (url: URL): http.Agent => {
  const { protocol } = url;
  const direct = isLoopback(url);
  const key = `${protocol}${direct}`;
  let agent = agents.get(key);
  if (!agent) {
    const options = { keepAlive: true, proxyEnv: direct ? undefined : process.env };
    agent = protocol === 'https:' ? new SecureAgent(options) : new Agent(options);
    agents.set(key, agent);
  }
  return agent;
};

/** Without the query, which holds the signature of presigned URLs. */
const named = (method: string, { origin, pathname }: URL): string => `${method} ${origin}${pathname}`;

/**
 * Resolves with the head of the response; the caller reads its body.
 * @throws {TransportError} when there is no response
 */
export const open = (address: string, call: Call): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const url = new URL(address);
    const { method, headers = {}, body, idleMs = defaultIdleMs, signal, onSent, ca } = call;
    const length = body === undefined ? 0 : body instanceof Uint8Array ? body.length : body.size;
    const request = begin(url, {
      method,
      // Decides whether the connection uses TLS.
      agent: agentFor(url),
      signal,
      ca,
      headers: method === 'GET' ? headers : { ...headers, 'content-length': String(length) },
    });
    const fail = (error: Error & { code?: string }) =>
      reject(
        signal?.aborted
          ? error
          : new TransportError(`${named(method, url)}: ${error.code ?? error.message}`, { cause: error }),
      );
    request.on('error', fail);
    request.on('response', resolve);
    if (onSent) request.on('finish', onSent);
    request.setTimeout(idleMs, () =>
      request.destroy(Object.assign(new Error(`no response for ${idleMs} ms`), { code: 'ETIMEDOUT' })),
    );
    if (body === undefined || body instanceof Uint8Array) request.end(body);
    else if (body.size === 0) request.end();
    else pipeline(createReadStream(body.file, { end: body.size - 1 }), request).catch(fail);
  });

/** The whole response, with any status. @throws {TransportError} when it is missing or incomplete */
export const send = async (address: string, call: Call): Promise<Answer> => {
  const answer = await open(address, call);
  return { status: answer.statusCode ?? 0, body: await readAll(answer, named(call.method, new URL(address))) };
};

const readAll = async (answer: http.IncomingMessage, name: string): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAnswer) throw new Error(`response longer than ${maxAnswer} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new TransportError(`${name}: ${(error as Error).message}`, { cause: error });
  }
  return Buffer.concat(chunks);
};
