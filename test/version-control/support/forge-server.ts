import type { IncomingMessage } from 'node:http';
import { serve } from '#test/support/serve.ts';

/** A forge's API for tests: answers by method and path as a test decides, records requests, and knows its tokens. */

export interface ForgeCall {
  method: string;
  /** Without query. */
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: looked into at any depth
  body: any;
}

export interface Reply {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}

type Answerer = (call: ForgeCall) => Reply | undefined | Promise<Reply | undefined>;

export interface ForgeServer {
  url: string;
  calls: ForgeCall[];
  /** Checked in order; the first one that answers wins. Without an answer: 404. */
  answers: Answerer[];
  /** Accepted tokens; others get 401. */
  tokens: Set<string>;
  on(method: string, path: string | RegExp, reply: Reply | ((call: ForgeCall) => Reply)): void;
  asked(method: string, path: string | RegExp): ForgeCall[];
  reset(): void;
  close(): Promise<void>;
}

const fits = (pattern: string | RegExp, path: string): boolean =>
  typeof pattern === 'string' ? pattern === path : pattern.test(path);

export const startForge = async (): Promise<ForgeServer> => {
  const server = await serve(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const url = new URL(incoming.url ?? '/', forge.url);
    const call: ForgeCall = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      authorization: incoming.headers.authorization,
      headers: incoming.headers,
      body: incoming.headers['content-type']?.includes('json') ? JSON.parse(text) : new URLSearchParams(text),
    };
    forge.calls.push(call);
    const reply = await replyTo(call);
    const isBytes = Buffer.isBuffer(reply.body);
    response.writeHead(reply.status ?? 200, {
      'content-type': isBytes ? 'application/gzip' : 'application/json',
      ...reply.headers,
    });
    response.end(isBytes ? reply.body : reply.body === undefined ? undefined : JSON.stringify(reply.body));
  });
  const replyTo = async (call: ForgeCall): Promise<Reply> => {
    const isOpen =
      call.path.startsWith('/login') ||
      call.path.startsWith('/app/') ||
      call.path.startsWith('/oauth') ||
      call.path.endsWith('/version');
    const token = call.authorization?.replace(/^Bearer /, '');
    if (!isOpen && !forge.tokens.has(token ?? '')) return { status: 401, body: { message: 'Bad credentials' } };
    for (const answer of forge.answers) {
      const reply = await answer(call);
      if (reply) return reply;
    }
    return { status: 404, body: { message: 'Not Found' } };
  };
  const forge: ForgeServer = {
    url: server.url,
    calls: [],
    answers: [],
    tokens: new Set(['good']),
    on: (method, path, reply) => {
      forge.answers.unshift((call) =>
        call.method === method && fits(path, call.path)
          ? typeof reply === 'function'
            ? reply(call)
            : reply
          : undefined,
      );
    },
    asked: (method, path) => forge.calls.filter((call) => call.method === method && fits(path, call.path)),
    reset: () => {
      forge.calls.length = 0;
      forge.answers.length = 0;
      forge.tokens = new Set(['good']);
      forge.on('GET', '/user', { body: { id: 7, login: 'octocat', username: 'octocat' } });
    },
    close: server.close,
  };
  forge.reset();
  return forge;
};
