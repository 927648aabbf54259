import { AsyncLocalStorage } from 'node:async_hooks';
import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import type { Services } from '#platform/store/services.ts';
import { evaluate } from './evaluate.ts';

/** The error of a function, as Lambda reports it to the caller. */
export interface FunctionFailure {
  errorType: string;
  errorMessage: string;
  trace?: string[];
}

/** Response of a function behind the HTTP API. */
export interface HttpAnswer {
  statusCode: number;
  headers?: Record<string, string | number | boolean | undefined>;
  cookies?: string[];
  body?: string;
  isBase64Encoded?: boolean;
}

/** `payload` is JSON text, for a failed function the error. An HTTP response is also kept as an object. */
export type InvokeResult =
  | { payload: string; http?: HttpAnswer; failure?: undefined }
  | { payload: string; http?: undefined; failure: FunctionFailure };

/** The response's JSON text on demand: for a page of a list, quoting and unquoting it would cost time. */
class HttpResult {
  readonly http: HttpAnswer;

  constructor(answer: HttpAnswer) {
    this.http = answer;
  }

  get payload(): string {
    return JSON.stringify(this.http);
  }
}

const isHttpAnswer = (value: unknown): value is HttpAnswer => {
  const { statusCode, headers, cookies, body } = (value ?? {}) as Partial<HttpAnswer>;
  const isPlain = (one: unknown) => ['string', 'number', 'boolean', 'undefined'].includes(typeof one);
  return (
    typeof statusCode === 'number' &&
    typeof body === 'string' &&
    !cookies &&
    Object.values(headers ?? {}).every(isPlain)
  );
};

export const failed = (failure: FunctionFailure): InvokeResult => ({ payload: JSON.stringify(failure), failure });

export interface Invocation {
  requestId: string;
  /** `Root=…;Parent=…;Sampled=0`. */
  trace: string;
  /** Milliseconds since 1970. */
  deadline: number;
  functionName: string;
  functionArn: string;
  /** MB. */
  memory: number;
}

export interface SandboxOptions {
  file: string;
  /** File for V8's compiled code, if any. */
  compiled?: string;
  /** `<module>.<export>`. */
  handler: string;
  environment: Record<string, string>;
  output(text: string): void;
  services?: Services;
}

type Handler = (event: unknown, context: object) => unknown;

const current = new AsyncLocalStorage<Invocation>();

/** The trace header of the invocation whose code runs. */
export const currentTrace = (): string | undefined => current.getStore()?.trace;

/**
 * One deployed bundle (CommonJS) with its own `process` and `console`, so that several functions with different
 * environments share one Node process.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  #handler: Handler | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Compiles and evaluates the bundle once; throws errors of its top level. */
  load(): Handler {
    if (this.#handler) return this.#handler;
    const { compiled, file, handler } = this.#options;
    const own = surroundings(this.#options);
    const load = createRequire(file);
    const module = { exports: {} as Record<string, unknown> };
    const scope = {
      exports: module.exports,
      require: Object.assign((id: string) => own.modules.get(id.replace(/^node:/, '')) ?? load(id), load),
      module,
      __filename: file,
      __dirname: '/var/task',
      process: own.process,
      console: own.console,
      [dynamicImport]: (id: string) => import(id),
    };
    const head = `(function(${Object.keys(scope).join(',')}){`;
    const code = `${head}${importable(readFileSync(file, 'utf8'))}\n})`;
    evaluate({ file, code, columnOffset: -head.length, compiled }, (bundle) => bundle(...Object.values(scope)));
    const name = handler.split('.').at(-1) ?? 'handler';
    const found = module.exports[name];
    if (typeof found !== 'function') throw new Error(`Runtime.HandlerNotFound: ${file} does not export ${name}`);
    this.#handler = found as Handler;
    return this.#handler;
  }

  run(payload: string, invocation: Invocation): Promise<InvokeResult> {
    return current.run(invocation, async () => {
      try {
        const answer = await this.load()(JSON.parse(payload), contextOf(invocation));
        return isHttpAnswer(answer) ? new HttpResult(answer) : { payload: JSON.stringify(answer) ?? 'null' };
      } catch (error) {
        return failed(describe(error));
      }
    });
  }
}

/**
 * Code that is compiled this way has no dynamic `import`, with which the SDK imports some of Node's modules. The
 * replacement has the same length, so that positions stay correct.
 */
const dynamicImport = '$mport';
const importable = (code: string): string => code.replaceAll(/\bimport(?=\(["']node:)/g, () => dynamicImport);

const contextOf = (invocation: Invocation) => ({
  functionName: invocation.functionName,
  functionVersion: '$LATEST',
  invokedFunctionArn: invocation.functionArn,
  memoryLimitInMB: String(invocation.memory),
  awsRequestId: invocation.requestId,
  logGroupName: `/aws/lambda/${invocation.functionName}`,
  logStreamName: 'local',
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => Math.max(0, invocation.deadline - Date.now()),
});

const describe = (error: unknown) => {
  if (error === null || typeof error !== 'object')
    return { errorType: typeof error, errorMessage: String(error), trace: [] };
  const { message = '', name = 'Error', stack = '' } = error as Partial<Error>;
  return { errorType: name, errorMessage: message, trace: stack.split('\n') };
};

const surroundings = ({ environment, output, services }: SandboxOptions) => {
  const stream = () =>
    new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        output(chunk.toString());
        done();
      },
    });
  const env = Object.defineProperty({ ...environment }, '_X_AMZN_TRACE_ID', {
    enumerable: true,
    get: currentTrace,
  });
  const nothing = () => own;
  const replaced: Record<PropertyKey, unknown> = {
    env,
    stdout: stream(),
    stderr: stream(),
    argv: ['node', 'index.js'],
    exit: (code: number) => {
      throw Object.assign(new Error(`exit ${code}`), { name: 'Runtime.ExitError' });
    },
    // Listeners of a function would receive the platform's own events.
    on: nothing,
    once: nothing,
    addListener: nothing,
    off: nothing,
    removeListener: nothing,
    [Symbol.for('stepform.services')]: services,
  };
  const bound = new Map<PropertyKey, unknown>();
  const own: NodeJS.Process = new Proxy(process, {
    get: (target, key) => {
      if (Object.hasOwn(replaced, key)) return replaced[key];
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      if (!bound.has(key)) bound.set(key, value.bind(target));
      return bound.get(key);
    },
    has: (target, key) => key in target,
  });
  const console = new Console({ stdout: own.stdout, stderr: own.stderr });
  return {
    process: own,
    console,
    modules: new Map<string, unknown>([
      ['process', own],
      ['console', Object.assign(Object.create(console), { Console })],
    ]),
  };
};
