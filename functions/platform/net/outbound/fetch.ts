import { type OutboundAnswer, type OutboundLimits, type OutboundRequest, send } from './send.ts';

/** What libraries that speak to others give a `fetch` to do. */
export interface FetchOptions {
  method: string;
  headers: Record<string, string>;
  body?: { toString(): string } | null;
}

/** Enough for the keys of an issuer with many tenants, and not for filling a function's memory. */
const maxBytes = 512 * 1024;

type Send = (request: OutboundRequest, limits: Partial<OutboundLimits>) => Promise<OutboundAnswer>;

/** What sends requests, as the `fetch` of a library. It throws what that throws. */
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
 * So that its requests go where people's URLs may lead and nowhere else.
 * @throws {OutboundError}
 */
export const guardedFetch = fetchBy(send);
