import { AsyncLocalStorage } from 'node:async_hooks';
import { buffer } from 'node:stream/consumers';
import { decodeBinary } from '#infra/local/aws/dynamodb/binary.ts';
import type { S3Calls } from '#infra/local/aws/s3/s3-calls.ts';
import type { DirectCalls, DirectReply, DirectRequest, TableRefusal } from '#platform/store/direct-calls.ts';
import { Cut, errorReply, type Reply, refusalOf } from './answers.ts';
import type { Caller } from './callers.ts';
import type { AwsRequest, Calls, JsonOperation } from './calls.ts';

export interface DoorOptions {
  calls: Calls;
  s3: S3Calls;
  log(line: string): void;
}

/** State of a function's own call (its AsyncLocalStorage) must not reach the functions that it invokes. */
const outside = AsyncLocalStorage.snapshot();

/**
 * In-memory entrance of the endpoint for functions of this process: the same calls as over HTTP, with the same
 * permissions, faults and counts. The caller is known, so nothing is signed (docs/performance.md).
 */
export const directDoor = (
  ready: Promise<DoorOptions>,
  caller: Caller,
  traceHeader: () => string | undefined,
): DirectCalls => ({
  async request(request) {
    const trace = traceHeader();
    const { timeoutMs } = request;
    const options = await ready;
    const headers = { ...lowerCase(request.headers), ...(trace === undefined ? {} : { 'x-amzn-trace-id': trace }) };
    const answered = outside(answer, options, { request, headers, caller });
    return timeoutMs === undefined ? answered : within(timeoutMs, answered);
  },
  async table(action, input) {
    const trace = traceHeader();
    const operation = { service: 'dynamodb' as const, action, input: { ...input }, traceHeader: trace };
    return outside(operate, await ready, operation, caller);
  },
});

interface Incoming {
  request: DirectRequest;
  /** Names in lower case. */
  headers: Record<string, string>;
  caller: Caller;
}

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

const operate = async ({ calls, log }: DoorOptions, operation: JsonOperation, caller: Caller): Promise<object> => {
  try {
    return decodeBinary(await calls.operate(operation, caller));
  } catch (error) {
    if (error instanceof Cut) throw connectionLost();
    const { status, code: name } = refusalOf(error as Error, operation.action, log);
    throw Object.assign(new Error((error as Error).message), { name, status }) satisfies TableRefusal;
  }
};

const answer = async ({ calls, s3, log }: DoorOptions, incoming: Incoming): Promise<DirectReply> => {
  const { request, headers, caller } = incoming;
  try {
    if (request.service === 's3') return await answerS3(s3, inText(incoming), caller);
    return inBytes(await calls.answer(inText(incoming), caller, request.service));
  } catch (error) {
    if (error instanceof Cut) throw connectionLost();
    return inBytes(errorReply({ method: request.method, url: request.path, headers }, error as Error, log));
  }
};

const inText = ({ request: { method, path, body = '' }, headers }: Incoming): AwsRequest => ({
  method,
  url: path,
  headers,
  body: typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength),
});

const inBytes = ({ body, ...rest }: Reply): DirectReply => ({ ...rest, body: Buffer.from(body) });

const answerS3 = async (s3: S3Calls, request: AwsRequest, caller: Caller): Promise<DirectReply> => {
  const { status, headers, body } = await s3.answer({ ...request, body: [request.body] }, caller);
  return { status, headers, body: Buffer.isBuffer(body) ? body : await buffer(body) };
};

const lowerCase = (headers: DirectRequest['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The error of the SDK's own client for a connection that closes without a response, which it retries. */
const connectionLost = (): Error =>
  Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });
