import type { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { subjectOf } from '#infra/local/aws/dynamodb/subject.ts';
import type { Ecs } from '#infra/local/aws/ecs/ecs.ts';
import type { Accesses } from '#infra/local/aws/iam/access.ts';
import type { Kms } from '#infra/local/aws/kms/kms.ts';
import { AsyncInvocations } from '#infra/local/aws/lambda/async-invocations.ts';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import type { InvokeResult } from '#infra/local/aws/lambda/sandbox.ts';
import type { Usage } from '#infra/local/aws/lambda/usage.ts';
import type { S3 } from '#infra/local/aws/s3/s3.ts';
import type { Mail } from '#infra/local/aws/ses/mail.ts';
import type { Caller } from './callers.ts';
import { AwsError } from './errors.ts';
import type { Gate } from './gate.ts';
import type { Sockets } from './sockets.ts';

type Input = Record<string, unknown>;

export type JsonService = 'dynamodb' | 'kms' | 'ecs' | 'states';

export interface HostedServices {
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

/** The caller of a service, and its place in a trace. */
export interface Origin {
  caller: Caller;
  traceHeader: string | undefined;
}

export interface CallsOptions {
  accesses: Accesses;
  gate: Gate;
  services: HostedServices;
  usage: Usage;
  log(line: string): void;
}

/** Calls to all services except S3 (s3-calls.ts), over HTTP and of functions in this process. */
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

  /**
   * An operation of a service with JSON protocol.
   * @param action its name in IAM, e.g. `GetItem`
   * @returns the output
   */
  async operate(service: JsonService, action: string, input: Input, origin: Origin): Promise<object> {
    const { accesses, gate, services, usage } = this.#options;
    const access = accesses[service](action, input);
    const trace = gate.traced(origin.traceHeader, () => JSON.stringify(input));
    const subject = service === 'dynamodb' ? subjectOf(input) : undefined;
    return gate.perform<object>({ service, action, access, trace, subject, ...origin }, async () => {
      if (service === 'dynamodb') return services.dynamodb.handle(action, input);
      const output =
        service === 'ecs'
          ? await services.ecs.handle(action, input, usage.runOf(trace))
          : await services[service].handle(action, input);
      return { output, units: {} };
    });
  }

  /** @returns undefined for an asynchronous invocation, which is retried if the function fails */
  invoke(name: string, payload: string, origin: Origin, isAsync: boolean): Promise<InvokeResult | undefined> {
    const { accesses, gate, services } = this.#options;
    const resource = services.lambda.find(name);
    const trace = gate.traced(origin.traceHeader, () => payload);
    const call = { service: 'lambda-api', action: 'Invoke', access: accesses.lambda(resource.arn), trace, ...origin };
    return gate.perform(call, async () => {
      const invoke = () => services.lambda.invoke(resource.id, payload || 'null', { trace });
      if (!isAsync) return { output: await invoke(), units: {} };
      void this.#later.attempt(name, async () => {
        const { failure } = await invoke();
        if (failure) throw new AwsError(failure.errorType, failure.errorMessage);
      });
      return { output: undefined, units: {} };
    });
  }

  /** Permission for the local sender: the template grants it only with a configured sender (infra/stack/grants.ts). */
  async email(message: object, origin: Origin): Promise<object> {
    const { gate, services } = this.#options;
    const { mail } = services;
    if (!mail?.mayBeSentBy(origin.caller.name))
      throw new AwsError('AccessDeniedException', `${origin.caller.name} may not send e-mails`, 403);
    const call = { service: 'ses', action: 'SendEmail', access: [], trace: gate.traced(origin.traceHeader), ...origin };
    return gate.perform(call, async () => ({ output: await mail.send(message), units: {} }));
  }

  /**
   * Sends a function's message to a WebSocket connection, or closes it without one (API Gateway: @connections).
   * @throws AwsError GoneException
   */
  connection(stage: string, id: string, message: string | undefined, origin: Origin): Promise<void> {
    const { accesses, gate, services } = this.#options;
    const { sockets } = services;
    if (!sockets) throw new AwsError('NotFoundException', `no connection ${id}`, 404);
    const access = accesses.connections(message === undefined ? 'DELETE' : 'POST', stage, id);
    const action = message === undefined ? 'DeleteConnection' : 'PostToConnection';
    return gate.perform({ service: 'execute-api', action, access, trace: undefined, ...origin }, async () => {
      if (message === undefined) sockets.end(id);
      else await sockets.post(id, Buffer.from(message));
      return { output: undefined, units: {} };
    });
  }
}
