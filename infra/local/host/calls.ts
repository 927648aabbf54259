import type { IncomingHttpHeaders } from 'node:http';
import type { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { subjectOf } from '#infra/local/aws/dynamodb/subject.ts';
import type { Ecs } from '#infra/local/aws/ecs/ecs.ts';
import type { Accesses } from '#infra/local/aws/iam/access.ts';
import type { Kms } from '#infra/local/aws/kms/kms.ts';
import { AsyncInvocations } from '#infra/local/aws/lambda/async-invocations.ts';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import type { Usage } from '#infra/local/aws/lambda/usage.ts';
import type { S3 } from '#infra/local/aws/s3/s3.ts';
import type { Mail } from '#infra/local/aws/ses/mail.ts';
import { type Reply, reply } from './answers.ts';
import type { Caller } from './callers.ts';
import { AwsError } from './errors.ts';
import type { Gate } from './gate.ts';
import type { Sockets } from './sockets.ts';

type Input = Record<string, unknown>;

export interface Services {
  dynamodb: DynamoDb;
  s3: S3;
  kms: Kms;
  ecs: Ecs;
  lambda: Lambda;
  mail?: Mail;
  sockets?: Sockets;
  states: {
    handle(action: string, input: Input): Promise<object>;
    transitions(executionName: string): number;
  };
}

/** A request of an authenticated caller, over HTTP or in memory. */
export interface AwsRequest {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface JsonOperation {
  service: 'dynamodb' | 'kms' | 'ecs' | 'states';
  /** IAM's name, e.g. `GetItem`. */
  action: string;
  input: Input;
  traceHeader: string | undefined;
}

export interface CallsOptions {
  accesses: Accesses;
  gate: Gate;
  services: Services;
  usage: Usage;
  log(line: string): void;
}

/** Responses of all services except S3 (s3-calls.ts). */
export class Calls {
  readonly #options: CallsOptions;
  readonly #later: AsyncInvocations;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#later = new AsyncInvocations(options.log);
  }

  close(): void {
    this.#later.close();
  }

  /** @param service as in the actual or omitted signature */
  answer(request: AwsRequest, caller: Caller, service: string | undefined): Promise<Reply> {
    if (service === 'execute-api') return this.#connections(request, caller);
    if (request.url === '/v2/email/outbound-emails') return this.#email(request, caller);
    if (request.url.startsWith('/2015-03-31/functions/')) return this.#invoke(request, caller);
    return this.#json(request, caller);
  }

  async #json({ headers, body }: AwsRequest, caller: Caller): Promise<Reply> {
    const text = body.toString();
    let input: Input;
    try {
      input = (text ? JSON.parse(text) : {}) as Input;
    } catch {
      throw new AwsError('SerializationException', 'The body is not JSON.');
    }
    const [prefix = '', action = ''] = String(headers['x-amz-target'] ?? '').split('.');
    const service = serviceOf(prefix);
    if (!service) throw new AwsError('UnknownOperationException', `the local platform has no ${prefix || 'such'} API`);
    const output = await this.operate({ service, action, input, traceHeader: traceHeaderOf(headers) }, caller);
    return reply(200, String(headers['content-type'] ?? 'application/x-amz-json-1.1'), JSON.stringify(output));
  }

  /**
   * A parsed request of the JSON protocol.
   * @returns the output
   */
  async operate({ service, action, input, traceHeader }: JsonOperation, caller: Caller): Promise<object> {
    const { accesses, gate } = this.#options;
    const access = accesses[service](action, input);
    const trace = gate.traced(traceHeader, () => JSON.stringify(input));
    const subject = service === 'dynamodb' ? subjectOf(input) : undefined;
    return gate.perform<object>({ service, action, caller, access, trace, traceHeader, subject }, () =>
      this.#call(service, action, input, trace),
    );
  }

  async #call(service: JsonOperation['service'], action: string, input: Input, trace: string | undefined) {
    const { services, usage } = this.#options;
    if (service === 'dynamodb') return services.dynamodb.handle(action, input);
    const output =
      service === 'ecs'
        ? await services.ecs.handle(action, input, usage.runOf(trace))
        : await services[service].handle(action, input);
    return { output, units: {} };
  }

  async #invoke({ headers, body, url }: AwsRequest, caller: Caller): Promise<Reply> {
    const { accesses, gate, services } = this.#options;
    const name = decodeURIComponent(/^\/2015-03-31\/functions\/([^/?]+)\/invocations/.exec(url)?.[1] ?? '');
    const resource = services.lambda.find(name);
    const access = accesses.lambda(resource.arn);
    const text = body.toString();
    const traceHeader = traceHeaderOf(headers);
    const trace = gate.traced(traceHeader, () => text);
    const later = headers['x-amz-invocation-type'] === 'Event';
    const call = { service: 'lambda-api', action: 'Invoke', caller, access, trace, traceHeader };
    const output = await gate.perform(call, async () => {
      const invoke = () => services.lambda.invoke(resource.id, text || 'null', { trace });
      if (!later) return { output: await invoke(), units: {} };
      void this.#later.attempt(name, async () => {
        const { failure } = await invoke();
        if (failure) throw new AwsError(failure.errorType, failure.errorMessage);
      });
      return { output: undefined, units: {} };
    });
    if (!output) return reply(202, 'application/json', '');
    const answer = reply(200, 'application/json', output.payload);
    if (output.failure) answer.headers['x-amz-function-error'] = 'Unhandled';
    return answer;
  }

  /** Permission for the local sender: the template grants it only with a configured sender (infra/stack/grants.ts). */
  async #email({ body, headers }: AwsRequest, caller: Caller): Promise<Reply> {
    const { gate, services } = this.#options;
    const { mail } = services;
    if (!mail?.mayBeSentBy(caller.name)) {
      throw new AwsError('AccessDeniedException', `${caller.name} may not send e-mails`, 403);
    }
    const traceHeader = traceHeaderOf(headers);
    const trace = gate.traced(traceHeader);
    const call = { service: 'ses', action: 'SendEmail', caller, access: [], trace, traceHeader };
    const output = await gate.perform(call, async () => ({
      output: await mail.send(JSON.parse(body.toString()) as object),
      units: {},
    }));
    return reply(200, 'application/json', JSON.stringify(output));
  }

  /** Messages of functions to WebSocket connections (API Gateway: @connections commands). */
  async #connections({ body, method, url, headers }: AwsRequest, caller: Caller): Promise<Reply> {
    const { accesses, gate, services } = this.#options;
    const [, id] = /^\/[^/]+\/@connections\/([^/?]+)$/.exec(url) ?? [];
    if (!services.sockets || id === undefined) throw new AwsError('NotFoundException', `no connection at ${url}`, 404);
    const connectionId = decodeURIComponent(id);
    const access = accesses.connections(method, decodeURIComponent(url));
    const action = method === 'DELETE' ? 'DeleteConnection' : 'PostToConnection';
    const traceHeader = traceHeaderOf(headers);
    const call = { service: 'execute-api', action, caller, access, trace: undefined, traceHeader };
    await gate.perform(call, async () => {
      if (method === 'DELETE') services.sockets?.end(connectionId);
      else await services.sockets?.post(connectionId, body);
      return { output: undefined, units: {} };
    });
    return reply(method === 'DELETE' ? 204 : 200, 'application/json', '');
  }
}

export const traceHeaderOf = (headers: IncomingHttpHeaders): string | undefined =>
  headers['x-amzn-trace-id'] as string | undefined;

const serviceOf = (prefix: string): JsonOperation['service'] | undefined => {
  if (prefix.startsWith('DynamoDB_')) return 'dynamodb';
  if (prefix === 'AWSStepFunctions') return 'states';
  if (prefix === 'TrentService') return 'kms';
  return prefix.startsWith('AmazonEC2ContainerService') ? 'ecs' : undefined;
};
