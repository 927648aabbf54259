import { type OutboundAnswer, type OutboundLimits, type OutboundRequest, send } from './send.ts';

/** The options of `fetch` that libraries use. */
export interface FetchOptions {
  method: string;
  headers: Record<string, string>;
  body?: { toString(): string } | null;
}

/** Enough for the keys of an issuer with many tenants, without filling a function's memory. */
const maxBytes = 512 * 1024;

type Send = (request: OutboundRequest, limits: Partial<OutboundLimits>) => Promise<OutboundAnswer>;

/** A `fetch` for libraries that sends requests by the given function, and throws its errors. */
export const fetchBy =
  (sent: Send) =>
  async (url: string, options: FetchOptions): Promise<Response> => {
    const { method, headers, body } = options;
    const request = { method: method as OutboundRequest['method'], url, headers, body: body?.toString() };
    const answer = await sent(request, { maxBytes, sameOrigin: request.body !== undefined });
    const headerPairs = Object.entries(answer.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    const empty = answer.status === 204 || answer.status === 304;
    return new Response(empty ? null : new Uint8Array(answer.body), { status: answer.status, headers: headerPairs });
  };

/**
 * A `fetch` that is limited to the addresses that users' URLs may reach.
 * @throws {OutboundError}
 */
export const guardedFetch = fetchBy(send);
