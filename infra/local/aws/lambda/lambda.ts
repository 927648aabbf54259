import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AwsError } from '#infra/local/host/errors.ts';
import type { Faults } from '#infra/local/host/faults.ts';
import type { Resource } from '#infra/local/host/template.ts';
import type { Services } from '#platform/store/services.ts';
import type { Logs } from '../logs/logs.ts';
import { currentTrace, failed, type Invocation, type InvokeResult, Sandbox } from './sandbox.ts';
import { newTraceId, parentOf, rootOf, type Usage } from './usage.ts';

export interface FunctionProperties {
  Runtime?: string;
  Handler?: string;
  /** Seconds. */
  Timeout?: number;
  /** MB. */
  MemorySize?: number;
  Role: string;
  Environment?: { Variables?: Record<string, string> };
}

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

export interface LambdaOptions {
  functions: Resource<FunctionProperties>[];
  /** Bundle of a function; undefined for functions that are not the product's (custom resources of the CDK). */
  bundleOf(id: string): string | undefined;
  /** Folder for V8's compiled code. */
  compiled?: string;
  credentialsOf(id: string): Credentials;
  /** The services that a function calls in this process. */
  servicesOf?(id: string, traceHeader: () => string | undefined): Services;
  /** `AWS_ENDPOINT_URL` and the like, for every function. */
  environment: Record<string, string>;
  region: string;
  usage: Usage;
  logs: Logs;
  /** Limits of concurrent invocations, for tests. */
  faults?: Faults;
}

interface Hosted {
  resource: Resource<FunctionProperties>;
  sandbox: Sandbox;
  timeoutMs: number;
  memory: number;
}

/** Lambda: synchronous payloads up to 6 MB each way. */
const maxPayload = 6 * 1024 * 1024;

/**
 * Hosts the deployed bundles in this process. Unlike on AWS, one instance serves all invocations of a function
 * concurrently, and is never frozen or discarded.
 */
export class Lambda {
  readonly #hosted = new Map<string, Hosted>();
  readonly #options: LambdaOptions;
  /** Functions that kill running invocations, by the span in their trace. */
  readonly #killers = new Map<string, () => void>();
  /** Killed invocations whose code still runs here, because it cannot be stopped. */
  readonly #dead = new Set<string>();
  #active = 0;

  constructor(options: LambdaOptions) {
    this.#options = options;
    for (const resource of options.functions) {
      const file = options.bundleOf(resource.id);
      if (file === undefined) continue;
      const { MemorySize: memory = 128, Timeout = 3 } = resource.properties;
      const sandbox = new Sandbox({
        file,
        compiled: options.compiled && join(options.compiled, resource.id),
        handler: resource.properties.Handler ?? 'index.handler',
        environment: {
          ...environmentOf(resource, options),
          ...options.environment,
          ...resource.properties.Environment?.Variables,
        },
        output: (text) => options.logs.write(resource.id, text),
        services: options.servicesOf?.(resource.id, currentTrace),
      });
      this.#hosted.set(resource.id, { resource, sandbox, memory, timeoutMs: Timeout * 1000 });
    }
  }

  /** Running invocations. */
  get active(): number {
    return this.#active;
  }

  /** Ends the invocation whose code sends this trace header, as if its instance had died. */
  kill(traceHeader: string | undefined): void {
    this.#killers.get(parentOf(traceHeader) ?? '')?.();
  }

  /** Whether the code that sends this trace header has been killed: on AWS it could send nothing. */
  isDead(traceHeader: string | undefined): boolean {
    return this.#dead.size > 0 && this.#dead.has(parentOf(traceHeader) ?? '');
  }

  /** By name or ARN. Throws AwsError ResourceNotFoundException. */
  find(nameOrArn: string): Resource<FunctionProperties> {
    const name = /(?:^|:function:)([\w-]+)(?::\$LATEST)?$/.exec(nameOrArn)?.[1];
    const hosted = name === undefined ? undefined : this.#hosted.get(name);
    if (!hosted) throw new AwsError('ResourceNotFoundException', `Function not found: ${nameOrArn}`, 404);
    return hosted.resource;
  }

  /**
   * Runs a function with a JSON text and returns a JSON text; a failed function is a result, not an exception.
   * @param run the run that caused this, if known
   * @throws AwsError if the function does not exist, the payload exceeds 6 MB, or the account's concurrency is used up
   */
  async invoke(
    nameOrArn: string,
    payload: string,
    { trace = newTraceId(), run }: { trace?: string; run?: string } = {},
  ): Promise<InvokeResult> {
    const { memory, resource, sandbox, timeoutMs } = this.#hosted.get(this.find(nameOrArn).id)!;
    const { logs, usage } = this.#options;
    if (Buffer.byteLength(payload) > maxPayload)
      throw new AwsError(
        'RequestTooLargeException',
        `Request must be smaller than ${maxPayload} bytes for the InvokeFunction operation`,
        413,
      );
    if (this.#options.faults?.refusesInvocation(this.#active))
      throw new AwsError('TooManyRequestsException', 'Rate Exceeded.', 429);
    const root = rootOf(trace) ?? trace;
    if (run) usage.assign(root, run);
    else usage.see(root, payload);

    const started = performance.now();
    const span = randomUUID().replaceAll('-', '').slice(0, 16);
    const invocation: Invocation = {
      requestId: randomUUID(),
      trace: `${root};Parent=${span};Sampled=0`,
      deadline: Date.now() + timeoutMs,
      functionName: resource.ref,
      functionArn: resource.arn,
      memory,
    };
    this.#active++;
    let result: InvokeResult;
    try {
      const work = sandbox.run(payload, invocation);
      result = await limited(Promise.race([work, this.#killed(span, work, invocation)]), timeoutMs, invocation);
      if (!result.failure && isTooLarge(result))
        result = failed({
          errorType: 'Function.ResponseSizeTooLarge',
          errorMessage: `Response payload size exceeded maximum allowed payload size (${maxPayload} bytes).`,
        });
    } finally {
      this.#active--;
      this.#killers.delete(span);
    }
    if (result.failure) logs.write(resource.id, `${invocation.requestId} ERROR ${result.payload}\n`);
    const ms = Math.ceil(performance.now() - started);
    usage.record(root, 'lambda', resource.id, { ms, gbSeconds: (ms / 1000) * (memory / 1024) });
    usage.rememberUrls(root, result.http?.body ?? result.payload);
    return result;
  }

  /** Resolves when the invocation is killed. */
  #killed(span: string, work: Promise<unknown>, { requestId }: Invocation): Promise<InvokeResult> {
    return new Promise((resolve) => {
      this.#killers.set(span, () => {
        this.#dead.add(span);
        void work.finally(() => this.#dead.delete(span));
        resolve(
          failed({
            errorType: 'Runtime.ExitError',
            errorMessage: `RequestId: ${requestId} Error: Runtime exited with error: signal: killed`,
          }),
        );
      });
    });
  }
}

const isTooLarge = (result: InvokeResult): boolean => {
  // JSON takes at most six bytes per character, plus some for the headers.
  if (result.http?.body && result.http.body.length < maxPayload / 10) return false;
  return Buffer.byteLength(result.payload) > maxPayload;
};

const limited = async (
  work: Promise<InvokeResult>,
  timeoutMs: number,
  { requestId }: Invocation,
): Promise<InvokeResult> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<InvokeResult>((resolve) => {
    timer = setTimeout(
      () =>
        resolve(
          failed({
            errorType: 'Sandbox.Timedout',
            errorMessage: `RequestId: ${requestId} Error: Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`,
          }),
        ),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
};

/** Variables that the Lambda runtime sets (Lambda: environment variables). */
const environmentOf = (
  { id, ref, properties }: Resource<FunctionProperties>,
  { credentialsOf, region }: LambdaOptions,
): Record<string, string> => {
  const { accessKeyId, secretAccessKey, sessionToken } = credentialsOf(id);
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_LAMBDA_FUNCTION_NAME: ref,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(properties.MemorySize ?? 128),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${ref}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    // The user's own AWS settings must not reach the functions.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    LAMBDA_TASK_ROOT: '/var/task',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
  };
};
