import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { decodeBinary } from '#infra/local/aws/dynamodb/binary.ts';
import type { InvokeResult } from '#infra/local/aws/lambda/sandbox.ts';
import type { S3Calls } from '#infra/local/aws/s3/s3-calls.ts';
import type { AwsResponse, Services } from '#platform/store/services.ts';
import { Cut, refusalOf } from './answers.ts';
import type { Caller } from './callers.ts';
import type { Calls, Origin } from './calls.ts';
import { clientOf, connectionLost, retried } from './client.ts';
import { AwsError } from './errors.ts';

export interface Serving {
  calls: Calls;
  s3: S3Calls;
  log(line: string): void;
}

/** AWS SDK: attempts of DynamoDB's client. */
const maxAttempts = 4;

/** State of a function's own call (its AsyncLocalStorage) must not reach the functions that it invokes. */
const outside = AsyncLocalStorage.snapshot();

/**
 * The services as a function of this process calls them: the same calls as over HTTP, with the same permissions, faults
 * and counts. The caller is known, so nothing is signed (docs/performance.md).
 * @param traceHeader of the running invocation
 */
export const servicesOf = (
  ready: Promise<Serving>,
  caller: Caller,
  traceHeader: () => string | undefined,
): Services => {
  const call = async <T>(
    name: string,
    perform: (serving: Serving, origin: Origin) => Promise<T>,
    attempts = maxAttempts,
  ): Promise<T> => {
    const origin = { caller, traceHeader: traceHeader() };
    const serving = await ready;
    const attempt = () =>
      perform(serving, origin).catch((error) => Promise.reject(clientError(error, name, serving.log)));
    return outside(retried<T>, attempt, attempts);
  };
  const operate = (service: 'dynamodb' | 'ecs' | 'kms' | 'states', action: string, input: object): Promise<object> =>
    call(action, ({ calls }, origin) => calls.operate(service, action, { ...input }, origin));
  return {
    table: clientOf(async (action, input) => decodeBinary(await operate('dynamodb', action, input))),
    states: clientOf((action, input) => operate('states', action, input)),
    tasks: clientOf((action, input) => operate('ecs', action, input)),
    keys: <T>(action: string, input: object) => operate('kms', action, input) as Promise<T>,
    invoke: async (name, event) => {
      await call('Invoke', ({ calls }, origin) => calls.invoke(name, JSON.stringify(event), origin, true));
    },
    call: async (name, event) => {
      const perform = ({ calls }: Serving, origin: Origin) => calls.invoke(name, JSON.stringify(event), origin, false);
      const result = (await call('Invoke', perform, 1)) as InvokeResult;
      if (result.failure) throw new Error(`${name} failed: ${result.failure.errorMessage}`);
      return JSON.parse(result.payload);
    },
    mail: async (message) => {
      await call('SendEmail', ({ calls }, origin) => calls.email(message, origin), 2);
    },
    connection: (url, id, message) =>
      call('@connections', ({ calls }, origin) =>
        calls.connection(new URL(url).pathname.slice(1), id, message, origin),
      ).then(
        () => true,
        (error: Error) => error.name !== 'GoneException' && Promise.reject(error),
      ),
    objects: (url, { method, headers, body = '' }) => {
      const { pathname, search } = new URL(url);
      const isStream = body instanceof Readable;
      const content = isStream ? body : [typeof body === 'string' ? Buffer.from(body) : body];
      const answer = async ({ s3 }: Serving, { traceHeader: trace }: Origin): Promise<AwsResponse> => {
        const traced = { ...headers, 'x-amzn-trace-id': trace };
        const reply = await s3.answer({ method, url: pathname + search, headers: traced, body: content }, caller);
        return { ...reply, body: Buffer.isBuffer(reply.body) ? reply.body : await buffer(reply.body) };
      };
      // A stream can be read once.
      return call(method, answer, isStream ? 1 : maxAttempts).catch(replyOf);
    },
  };
};

/** The client's view of an error. */
const clientError = (error: Error, call: string, log: (line: string) => void): Error => {
  if (error instanceof Cut) return connectionLost();
  const { status, code } = refusalOf(error, call, log);
  return new AwsError(code, error.message, status);
};

/** S3's error responses are results; a lost connection is thrown. */
export const replyOf = (error: Error): AwsResponse => {
  if (!(error instanceof AwsError)) throw error;
  const { name, message, statusCode: status } = error;
  return { status, headers: {}, body: Buffer.from(`${name}: ${message}`) };
};
