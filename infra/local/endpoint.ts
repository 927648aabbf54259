import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Accesses } from './access.ts';
import { answerError, Cut, mute, read, send } from './answers.ts';
import { AsyncInvocations } from './async-invocations.ts';
import type { Caller, Callers } from './callers.ts';
import type { Cors } from './cors.ts';
import type { DynamoDb } from './dynamodb.ts';
import type { Ecs } from './ecs.ts';
import { AwsError } from './errors.ts';
import { type Faults, refuse } from './faults.ts';
import type { Access } from './iam.ts';
import type { Kms } from './kms.ts';
import type { Lambda } from './lambda.ts';
import { operate } from './operator.ts';
import { readS3Request, type S3 } from './s3.ts';
import { readSignature, type Signature, sha256 } from './signature.ts';
import { rootOf, type Units, type Usage } from './usage.ts';

type Input = Record<string, unknown>;

export interface Services {
  dynamodb: DynamoDb;
  s3: S3;
  kms: Kms;
  ecs: Ecs;
  lambda: Lambda;
  states: {
    handle(action: string, input: Input): Promise<object>;
    transitions(executionName: string): number;
  };
}

export interface EndpointOptions {
  callers: Callers;
  accesses: Accesses;
  cors: Cors;
  faults: Faults;
  usage: Usage;
  services: Services;
}

/** One AWS call, whatever its protocol. */
interface Call {
  service: string;
  action: string;
  caller: Caller;
  access: Access[];
  /** Root of the trace it belongs to. */
  trace: string | undefined;
  request: IncomingMessage;
  response: ServerResponse;
}

/** Every AWS API the product uses, on one port of the loopback interface: the only place with local-only behaviour. */
export class Endpoint {
  readonly #serving = Promise.withResolvers<EndpointOptions>();
  readonly #server: Server;
  readonly #log: (line: string) => void;
  readonly #later: AsyncInvocations;
  #options!: EndpointOptions;

  constructor(log: (line: string) => void) {
    this.#log = log;
    this.#later = new AsyncInvocations(log);
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      this.#handle(request, response).catch((error: unknown) =>
        answerError(request, response, error as Error, this.#log),
      );
    });
  }

  /** The port must be known before the functions are; calls that come before this wait for it. */
  serve(options: EndpointOptions): void {
    this.#options = options;
    this.#serving.resolve(options);
  }

  /** @returns the port. `0.0.0.0` is never listened on: whoever reaches this may do everything. */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#later.close();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#serving.promise;
    const { url = '/' } = request;
    const operated = await operate(request, this.#options, () => read(request));
    if (operated) return send(response, 200, 'application/json', JSON.stringify(operated));
    if (this.#options.cors.apply(request, response)) return;
    const signature = readSignature(request);
    if (signature?.service === 's3' || (!signature && !request.headers['x-amz-target']))
      return this.#s3(request, response, signature);
    const body = await read(request);
    const caller = this.#options.callers.identify(request, signature, sha256(body));
    if (url.startsWith('/2015-03-31/functions/')) return this.#invoke(request, response, caller, body.toString());
    return this.#json(request, response, caller, body.toString());
  }

  async #json(request: IncomingMessage, response: ServerResponse, caller: Caller, body: string): Promise<void> {
    const [prefix = '', action = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
    const service = serviceOf(prefix);
    if (!service) throw new AwsError('UnknownOperationException', `the local platform has no ${prefix || 'such'} API`);
    let input: Input;
    try {
      input = (body ? JSON.parse(body) : {}) as Input;
    } catch {
      throw new AwsError('SerializationException', 'The body is not JSON.');
    }
    const access = this.#options.accesses[service](action, input);
    const trace = this.#traced(request, body);
    const output = await this.#perform({ service, action, caller, access, trace, request, response }, () =>
      this.#call(service, action, input, trace),
    );
    send(
      response,
      200,
      String(request.headers['content-type'] ?? 'application/x-amz-json-1.1'),
      JSON.stringify(output),
    );
  }

  async #call(service: 'dynamodb' | 'kms' | 'ecs' | 'states', action: string, input: Input, trace: string | undefined) {
    const { services, usage } = this.#options;
    if (service === 'dynamodb') return services.dynamodb.handle(action, input);
    const output =
      service === 'ecs'
        ? await services.ecs.handle(action, input, usage.runOf(trace))
        : await services[service].handle(action, input);
    return { output, units: {} };
  }

  async #invoke(request: IncomingMessage, response: ServerResponse, caller: Caller, body: string): Promise<void> {
    const { services } = this.#options;
    const name = decodeURIComponent(
      /^\/2015-03-31\/functions\/([^/?]+)\/invocations/.exec(request.url ?? '')?.[1] ?? '',
    );
    const resource = services.lambda.find(name);
    const access = this.#options.accesses.lambda(resource.arn);
    const trace = this.#traced(request, body);
    const later = request.headers['x-amz-invocation-type'] === 'Event';
    const call = { service: 'lambda-api', action: 'Invoke', caller, access, trace, request, response };
    const output = await this.#perform(call, async () => {
      const invoke = () => services.lambda.invoke(resource.id, body || 'null', { trace });
      if (!later) return { output: await invoke(), units: {} };
      void this.#later.attempt(name, async () => {
        const { failure } = await invoke();
        if (failure) throw new AwsError(failure.errorType, failure.errorMessage);
      });
      return { output: undefined, units: {} };
    });
    if (!output) return send(response, 202, 'application/json', '');
    if (output.failure) response.setHeader('x-amz-function-error', 'Unhandled');
    send(response, 200, 'application/json', output.payload);
  }

  async #s3(request: IncomingMessage, response: ServerResponse, signature: Signature | undefined): Promise<void> {
    const { accesses, callers, services, usage } = this.#options;
    const presigned = signature?.expires !== undefined;
    const hash = presigned ? 'UNSIGNED-PAYLOAD' : String(request.headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD');
    const caller = callers.identify(request, signature, hash);
    const asked = readS3Request(request);
    const access = accesses.s3(asked);
    const trace = this.#traced(request, request.url ?? '');
    const run = signature && usage.runOfUrl(signature.signature);
    if (run) usage.recordForRun(run, 's3', asked.action);
    const call = {
      service: 's3',
      action: asked.action,
      caller,
      access,
      trace: run ? undefined : trace,
      request,
      response,
    };
    await this.#perform(call, async () => {
      // Without it S3 does not tell what is missing from what is forbidden.
      const listing = accesses.listing(asked.bucket);
      const mayNotList = access[0]?.action === 's3:GetObject' && !caller.may(listing);
      if (mayNotList && !(await services.s3.exists(asked.bucket, asked.key))) this.#permit(caller, listing);
      await services.s3.handle(request, response);
      return { output: undefined, units: {} };
    });
  }

  /** Every AWS call passes here: permission, then faults by rule, then the service, then the count. */
  async #perform<T>(call: Call, perform: () => Promise<{ output: T; units: Units }>): Promise<T> {
    const { service, action, trace } = call;
    const { usage } = this.#options;
    for (const access of call.access) this.#permit(call.caller, access);
    try {
      const { output, units } = await this.#faulty(call, perform);
      usage.record(trace, service, action, units);
      return output;
    } catch (error) {
      const failedCondition = (error as Error).name === 'ConditionalCheckFailedException';
      usage.record(trace, service, action, failedCondition ? { writeUnits: 1 } : {});
      throw error;
    }
  }

  /** A denial is logged even where its function goes on without: on AWS nobody would hear of it. */
  #permit(caller: Caller, access: Access): void {
    try {
      caller.check(access);
    } catch (error) {
      this.#log((error as Error).message);
      throw error;
    }
  }

  async #faulty<T>(call: Call, perform: () => Promise<{ output: T; units: Units }>) {
    const { service, action, request, response } = call;
    const { faults, services } = this.#options;
    const invocation = request.headers['x-amzn-trace-id'] as string | undefined;
    if (services.lambda.isDead(invocation)) throw new Cut();
    const fault = faults.ofCall({ service, action, function: call.caller.name });
    if (!fault) return perform();
    const { kind, ms = 1000 } = fault;
    if (kind === 'refuse') return { output: refuse(service, action, fault) as T, units: {} };
    if (kind === 'slow') await sleep(ms);
    if (kind === 'kill') services.lambda.kill(invocation);
    if (kind === 'kill') throw new Cut();
    // S3 answers by itself.
    if (kind !== 'slow') mute(response);
    const done = await perform();
    if (kind === 'slow') return done;
    if (kind === 'kill-after') services.lambda.kill(invocation);
    throw new Cut();
  }

  #traced(request: IncomingMessage, text: string): string | undefined {
    const trace = rootOf(request.headers['x-amzn-trace-id'] as string | undefined);
    if (trace) this.#options.usage.see(trace, text);
    return trace;
  }
}

const serviceOf = (prefix: string): 'dynamodb' | 'kms' | 'ecs' | 'states' | undefined => {
  if (prefix.startsWith('DynamoDB_')) return 'dynamodb';
  if (prefix === 'AWSStepFunctions') return 'states';
  if (prefix === 'TrentService') return 'kms';
  return prefix.startsWith('AmazonEC2ContainerService') ? 'ecs' : undefined;
};
