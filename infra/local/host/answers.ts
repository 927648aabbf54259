import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { escapeXml } from '#infra/local/aws/s3/xml.ts';
import { AwsError } from './errors.ts';

/** Parses requests to the AWS endpoint and writes responses, in the format of each protocol. */

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
  return { status: 500, code: 'InternalFailure' };
};

/** An error in the format of the called service. */
export const errorReply = (
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
