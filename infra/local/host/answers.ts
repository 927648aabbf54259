import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { escapeXml } from '#infra/local/aws/s3/xml.ts';
import type { Caller } from './callers.ts';
import type { Calls, JsonService } from './calls.ts';
import { AwsError, isDiskFull } from './errors.ts';

/** Parses requests to the AWS endpoint and writes responses, in the format of each protocol. */

/** A request of an authenticated caller to a service other than S3. */
export interface AwsRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Services by the prefix of `x-amz-target`, without a date. */
const services = new Map<string, JsonService>([
  ['DynamoDB', 'dynamodb'],
  ['AWSStepFunctions', 'states'],
  ['TrentService', 'kms'],
  ['AmazonEC2ContainerServiceV', 'ecs'],
]);

/** @param service as in the signature */
export const answer = async (
  calls: Calls,
  { method, url, headers, body }: AwsRequest,
  caller: Caller,
  service: string | undefined,
): Promise<Reply> => {
  const origin = { caller, traceHeader: traceHeaderOf(headers) };
  if (service === 'execute-api') {
    const [, stage, id] = /^\/([^/]+)\/@connections\/([^/?]+)$/.exec(decodeURIComponent(url)) ?? [];
    if (!stage || !id) throw new AwsError('NotFoundException', `no connection at ${url}`, 404);
    await calls.connection(stage, id, method === 'DELETE' ? undefined : body.toString(), origin);
    return reply(method === 'DELETE' ? 204 : 200, 'application/json', '');
  }
  if (url === '/v2/email/outbound-emails')
    return reply(200, 'application/json', inJson(await calls.email(parsed(body), origin)));
  const [, name] = /^\/2015-03-31\/functions\/([^/?]+)\/invocations/.exec(url) ?? [];
  if (name !== undefined) {
    const isAsync = headers['x-amz-invocation-type'] === 'Event';
    const result = await calls.invoke(decodeURIComponent(name), body.toString(), origin, isAsync);
    if (!result) return reply(202, 'application/json', '');
    const answered = reply(200, 'application/json', result.payload);
    if (result.failure) answered.headers['x-amz-function-error'] = 'Unhandled';
    return answered;
  }
  const [prefix = '', action = ''] = String(headers['x-amz-target'] ?? '').split('.');
  const target = services.get(prefix.replace(/_?\d+$/, ''));
  if (!target) throw new AwsError('UnknownOperationException', `the local platform has no ${prefix || 'such'} API`);
  const output = await calls.operate(target, action, parsed(body), origin);
  return reply(200, String(headers['content-type'] ?? 'application/x-amz-json-1.1'), inJson(output));
};

export const traceHeaderOf = (headers: IncomingHttpHeaders): string | undefined =>
  headers['x-amzn-trace-id'] as string | undefined;

const parsed = (body: Buffer): Record<string, unknown> => {
  try {
    return JSON.parse(body.toString() || '{}') as Record<string, unknown>;
  } catch {
    throw new AwsError('SerializationException', 'The body is not JSON.');
  }
};

/** Times are seconds since 1970 in the services' JSON. */
export const inJson = (output: object): string =>
  JSON.stringify(output, function (this: Record<string, unknown>, key, value: unknown) {
    const own = this[key];
    return own instanceof Date ? own.getTime() / 1000 : value;
  });

const maxBody = 16 * 1024 * 1024;

/** @throws AwsError RequestEntityTooLarge */
export const read = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBody) throw new AwsError('RequestEntityTooLarge', 'The request is too large.', 413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export const reply = (status: number, type: string, body: string): Reply => ({
  status,
  headers: {
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    'x-amzn-requestid': randomUUID(),
  },
  body,
});

export const sendReply = (response: ServerResponse, { status, headers, body }: Reply): void => {
  response.writeHead(status, headers).end(body);
};

/** The connection closes without a response. */
export class Cut extends Error {
  override name = 'Cut';
}

export const answerError = (
  request: IncomingMessage,
  response: ServerResponse,
  error: Error,
  log: (line: string) => void,
): void => {
  if (error instanceof Cut || response.headersSent) {
    response.destroy();
    return;
  }
  const { method = 'GET', url = '/', headers } = request;
  // An unread rest of the body must not block the connection.
  if (!request.complete) response.setHeader('connection', 'close');
  sendReply(response, errorReply({ method, url, headers }, error, log));
};

/** The client's view of an error. An internal error is logged. */
export const refusalOf = (
  error: Error,
  request: string,
  log: (line: string) => void,
): { status: number; code: string } => {
  if (error instanceof AwsError) return { status: error.statusCode, code: error.name };
  if (isAwsCode(error)) return { status: 400, code: error.name };
  log(`${request}: ${error.stack}`);
  return isDiskFull(error) ? { status: 507, code: 'InsufficientStorage' } : { status: 500, code: 'InternalFailure' };
};

/** An error in the format of the called service. */
const errorReply = (
  { method, url, headers }: { method: string; url: string; headers: IncomingHttpHeaders },
  error: Error,
  log: (line: string) => void,
): Reply => {
  const { status, code } = refusalOf(error, `${method} ${url}`, log);
  if (headers['x-amz-target'] || /^\/(2015-03-31\/|v2\/email\/|_)/.test(url)) {
    const body = JSON.stringify({ __type: code, message: error.message, Message: error.message });
    const answer = reply(status, 'application/x-amz-json-1.1', body);
    return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': code } };
  }
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code.replace(/^AccessDeniedException$/, 'AccessDenied')}</Code><Message>${escapeXml(error.message)}</Message></Error>`;
  return reply(status, 'application/xml', method === 'HEAD' ? '' : xml);
};

/** Services throw errors named like AWS codes; an internal error is a TypeError or the like. */
const isAwsCode = (error: Error): boolean =>
  !['Error', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'AssertionError'].includes(error.name);
