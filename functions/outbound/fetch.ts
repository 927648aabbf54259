import { type OutboundRequest, send } from './send.ts';

/** What libraries that speak to others give a `fetch` to do. */
interface FetchOptions {
  method: string;
  headers: Record<string, string>;
  body?: { toString(): string } | null;
}

/** Enough for the keys of an issuer with many tenants, and not for filling a function's memory. */
const maxBytes = 512 * 1024;

/**
 * `send` as the `fetch` of a library, so that its requests go where people's URLs may lead and nowhere else.
 * @throws {OutboundError}
 */
export const guardedFetch = async (url: string, { method, headers, body }: FetchOptions): Promise<Response> => {
  const request = { method: method as OutboundRequest['method'], url, headers, body: body?.toString() };
  const answer = await send(request, { maxBytes, sameOrigin: request.body !== undefined });
  const headerPairs = Object.entries(answer.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  const empty = answer.status === 204 || answer.status === 304;
  return new Response(empty ? null : new Uint8Array(answer.body), { status: answer.status, headers: headerPairs });
};
