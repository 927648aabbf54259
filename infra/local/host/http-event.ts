import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpAnswer, InvokeResult } from '#infra/local/aws/lambda/sandbox.ts';
import type { Home } from './home.ts';
import type { Match } from './routes.ts';

/**
 * The path as an HTTP API passes it: decoded, and cut at a decoded `?` (seen on AWS: honojs/hono#2156,
 * fastify/aws-lambda-fastify#169, hotsock/voker#8). Undefined if it cannot be decoded.
 */
export const decodedPath = (url: string): string | undefined => {
  const [raw = '/'] = url.split('?', 1);
  try {
    return decodeURIComponent(raw).split('?', 1)[0];
  } catch {
    return undefined;
  }
};

export interface EventParts {
  request: IncomingMessage;
  body: Buffer;
  path: string;
  match: Match;
  home: Home;
  apiId: string;
  trace: string;
  /** Scheme of the client's request. */
  scheme: 'http' | 'https';
  /** Address of the client. */
  sourceIp: string;
}

/** API Gateway's event for Lambda, payload format 2.0 (HTTP APIs: Lambda proxy integrations). */
export const httpEvent = (parts: EventParts): string => {
  const { apiId, body, home, match, path, request, scheme, sourceIp, trace } = parts;
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const rawQueryString = mark < 0 ? '' : url.slice(mark + 1);
  const { cookie, ...headers } = joined(request);
  const base64 = body.length > 0 && !isText(headers['content-type'], body);
  const now = new Date();
  return JSON.stringify({
    version: '2.0',
    routeKey: match.route.key,
    rawPath: path,
    rawQueryString,
    cookies: cookie?.split(/; */).filter(Boolean),
    headers: {
      ...headers,
      'x-amzn-trace-id': trace,
      'x-forwarded-for': [headers['x-forwarded-for'], sourceIp].filter(Boolean).join(', '),
      'x-forwarded-port': String(request.socket.localPort),
      'x-forwarded-proto': scheme,
    },
    queryStringParameters: rawQueryString ? parameters(rawQueryString) : undefined,
    pathParameters: Object.keys(match.parameters).length ? match.parameters : undefined,
    requestContext: {
      accountId: home.accountId,
      apiId,
      domainName: headers.host ?? 'localhost',
      domainPrefix: (headers.host ?? 'localhost').split(/[.:]/, 1)[0],
      http: {
        method: request.method,
        path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: match.route.key,
      stage: '$default',
      time: clf(now),
      timeEpoch: now.getTime(),
    },
    body: body.length ? body.toString(base64 ? 'base64' : 'utf8') : undefined,
    isBase64Encoded: base64,
  });
};

/** Lower-case names; repeated headers are joined by commas. */
const joined = (request: IncomingMessage): Record<string, string> & { cookie?: string } =>
  Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values = []]) => [
      name,
      values.join(name === 'cookie' ? '; ' : ','),
    ]),
  );

const parameters = (query: string): Record<string, string> => {
  const all: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) all[name] = name in all ? `${all[name]},${value}` : value;
  return all;
};

const textType = /^(text\/|application\/(json|xml|javascript)\s*(;|$))/i;

/**
 * Everything else is passed in base64: form fields, bodies without a type, and `application/vnd.api+json` (seen on AWS:
 * ministackorg/ministack#766).
 */
const isText = (type: string | undefined, body: Buffer): boolean =>
  type !== undefined && textType.test(type) && isUtf8(body);

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** 12/Mar/2020:19:03:58 +0000 */
const clf = (at: Date): string => {
  const two = (n: number) => String(n).padStart(2, '0');
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':');
  return `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}:${time} +0000`;
};

/** Writes a function's response; without `statusCode` the whole result is the JSON body (format 2.0). */
export const writeAnswer = (response: ServerResponse, result: InvokeResult, headersOnly: boolean): void => {
  const answer = result.http ?? (JSON.parse(result.payload) as HttpAnswer | string | null);
  if (answer === null || typeof answer !== 'object' || !('statusCode' in answer)) {
    const body = typeof answer === 'string' ? answer : result.payload;
    end(response, 200, { 'content-type': 'application/json' }, body, headersOnly);
    return;
  }
  const headers: Record<string, string | string[]> = {};
  // The listener sets length and framing.
  for (const [name, value] of Object.entries(answer.headers ?? {}))
    if (value !== undefined && !/^(content-length|transfer-encoding|connection|keep-alive)$/i.test(name))
      headers[name.toLowerCase()] = String(value);
  if (answer.cookies?.length) headers['set-cookie'] = answer.cookies;
  const text = answer.body ?? '';
  const body = answer.isBase64Encoded ? Buffer.from(text, 'base64') : text;
  if (body.length) headers['content-type'] ??= 'text/plain; charset=utf-8';
  end(response, Number(answer.statusCode), headers, body, headersOnly);
};

/** Responses of API Gateway itself. */
/** @param message for users, or the whole body */
export const writeMessage = (response: ServerResponse, status: number, message: string | object): void => {
  const body = JSON.stringify(typeof message === 'string' ? { message } : message);
  end(response, status, { 'content-type': 'application/json' }, body, false);
};

/** Body size that fits next to the headers. */
const firstReadBytes = 2048;

const end = (
  response: ServerResponse,
  status: number,
  headers: Record<string, string | string[]>,
  body: Buffer | string,
  headersOnly: boolean,
): void => {
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, {
    ...headers,
    ...(bodiless ? {} : { 'content-length': Buffer.byteLength(body) }),
    'apigw-requestid': randomUUID().slice(0, 16),
  });
  if (headersOnly || bodiless) return void response.end();
  // Go's HTTP client reads 4 KB with the headers. Terraform reads once, discards the rest and requests it again.
  if (body.length > firstReadBytes) response.flushHeaders();
  response.end(body);
};
