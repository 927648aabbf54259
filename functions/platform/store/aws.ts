import http from 'node:http';
import https from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { environment } from '#platform/environment.ts';
import { type DirectCalls, directCalls } from './direct-calls.ts';

/**
 * Signed calls without an SDK client: S3 and KMS need a handful of operations, and their clients would add more to
 * every bundle (305 and 28 KB) than all code that uses them (decisions/0005).
 */

/** Derived signing keys, by day and service; aws4fetch fills it. */
const signingKeys = new Map<string, ArrayBuffer>();
/**
 * No idle timeout, so that the next invocation reuses a connection; a request on a dead connection is repeated.
 */
const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };
const defaultTimeoutMs = 20_000;

export interface Call {
  method: string;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | string;
}

export interface SendOptions {
  /** Larger bodies are not read. */
  maxBytes?: number;
  /** Region of the signature; missing: the function's own. */
  region?: string;
  timeoutMs?: number;
  /** Maximum attempts. */
  tries?: number;
}

export interface AwsResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** Empty if it exceeds `maxBytes`; `content-length` has its size. */
  body: Buffer;
}

const signer = (
  service: string,
  url: string,
  call: Call,
  options: { signQuery?: boolean; allHeaders?: boolean; region?: string } = {},
) =>
  new AwsV4Signer({
    ...environment.credentials,
    region: environment.region,
    service,
    cache: signingKeys,
    url,
    ...call,
    ...options,
  });

/** One attempt. Uses Node's own client: the first `fetch` of a process takes 50 ms longer. */
const attempt = (
  url: string,
  call: Call,
  { maxBytes = Infinity, timeoutMs = defaultTimeoutMs }: SendOptions,
): Promise<AwsResponse> =>
  new Promise((resolve, reject) => {
    const plain = url.startsWith('http:');
    const { method, body } = call;
    const headers: http.OutgoingHttpHeaders = { ...call.headers };
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
    const options = { method, headers, agent: plain ? agents.http : agents.https, timeout: timeoutMs };
    const request = (plain ? http : https).request(url, options, (response) => {
      const reply = { status: response.statusCode ?? 0, headers: response.headers };
      if (method !== 'HEAD' && Number(response.headers['content-length'] ?? 0) > maxBytes) {
        response.destroy();
        resolve({ ...reply, body: Buffer.alloc(0) });
        return;
      }
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ ...reply, body: Buffer.concat(parts) }));
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on('error', reject);
    request.end(body);
  });

const attemptSigned = async (service: string, url: string, call: Call, sending: SendOptions): Promise<AwsResponse> => {
  const { headers } = await signer(service, url, call, { region: sending.region }).sign();
  return attempt(url, { ...call, headers: Object.fromEntries(headers) }, sending);
};

const attemptDirectly = async (
  calls: DirectCalls,
  service: string,
  url: string,
  { method, headers = {}, body }: Call,
  { maxBytes = Infinity, timeoutMs = defaultTimeoutMs }: SendOptions,
): Promise<AwsResponse> => {
  const { pathname, search } = new URL(url);
  const reply = await calls.request({ service, method, path: pathname + search, headers, body, timeoutMs });
  const isTooLarge = method !== 'HEAD' && reply.body.length > maxBytes;
  return isTooLarge ? { ...reply, body: Buffer.alloc(0) } : reply;
};

const pause = (tries: number): Promise<void> => delay(Math.random() * 50 * 2 ** tries);

/** Worth a retry; S3 answers 400 to a body that did not arrive in time (S3: error responses). */
const isPassing = ({ status, body }: AwsResponse): boolean =>
  status >= 500 || status === 429 || (status === 400 && body.includes('<Code>RequestTimeout</Code>'));

/**
 * One request, repeated after a connection error or a temporary refusal (Lambda thaws with dead connections, S3 asks to
 * slow down). Returns the last response with any status.
 */
export const send = async (
  service: string,
  url: string,
  call: Call,
  sending: SendOptions = {},
): Promise<AwsResponse> => {
  const { tries: maxTries = environment.maxAttempts, region = environment.region } = sending;
  for (let tries = 1; ; tries++) {
    const last = tries >= maxTries;
    try {
      const reply = await (directCalls
        ? attemptDirectly(directCalls, service, url, call, sending)
        : attemptSigned(service, url, call, { ...sending, region }));
      if (last || !isPassing(reply)) return reply;
    } catch (error) {
      if (last) throw error;
    }
    await pause(tries);
  }
};

/**
 * A URL that contains its own permission until it expires. The given headers are signed: the client must send the same
 * ones.
 */
export const presign = async (
  service: string,
  url: string,
  method: string,
  expiresSeconds: number,
  headers: Record<string, string> = {},
): Promise<string> => {
  const withExpiry = new URL(url);
  withExpiry.searchParams.set('X-Amz-Expires', String(expiresSeconds));
  const call = { method, headers };
  const { url: signed } = await signer(service, String(withExpiry), call, { signQuery: true, allHeaders: true }).sign();
  return String(signed);
};

/** A refusal of an AWS service; `name` is its error code, e.g. `AccessDeniedException`. */
class AwsCallError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

const tryAgain = /Throttl/;

/** A service that speaks JSON over POST. */
interface JsonService {
  /** Name in signatures, e.g. `kms`. */
  name: string;
  /** Prefix of the operation in `x-amz-target`. */
  target: string;
  url: string;
}

/**
 * Calls an operation; input and output have the form of the service's API reference. Throttled calls are repeated.
 * @throws {AwsCallError} for an error response
 * @throws connection errors
 */
const callJson = async <T>(
  { name: service, target, url }: JsonService,
  operation: string,
  input: unknown,
  sending: SendOptions = {},
): Promise<T> => {
  const call: Call = {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `${target}.${operation}` },
    body: JSON.stringify(input),
  };
  const maxTries = sending.tries ?? environment.maxAttempts;
  for (let tries = 1; ; tries++) {
    const { status, body } = await send(service, `${url}/`, call, sending);
    const text = body.toString('utf8');
    if (status === 200) return JSON.parse(text || '{}') as T;
    const { name, message } = errorIn(text) ?? { name: `Http${status}`, message: text.slice(0, 500) };
    if (!tryAgain.test(name) || tries >= maxTries) {
      throw new AwsCallError(name, `${service} ${operation}: ${name}: ${message}`);
    }
    await pause(tries);
  }
};

/** Calls an operation of KMS, e.g. `Decrypt`. @throws {AwsCallError} */
export const callKms = <T>(operation: string, input: unknown): Promise<T> => {
  const { region } = environment;
  const url = environment.endpoint('KMS') ?? `https://kms.${region}.${dnsSuffix(region)}`;
  return callJson({ name: 'kms', target: 'TrentService', url }, operation, input);
};

/** Calls an operation of Parameter Store, e.g. `GetParameter`. @throws {AwsCallError} */
export const callParameterStore = <T>(operation: string, input: unknown): Promise<T> => {
  const { region } = environment;
  const url = environment.endpoint('SSM') ?? `https://ssm.${region}.${dnsSuffix(region)}`;
  return callJson({ name: 'ssm', target: 'AmazonSSM', url }, operation, input);
};

/**
 * Invokes a function asynchronously; Lambda retries it when it fails (Lambda: asynchronous invocation).
 * @throws {AwsCallError} Lambda's error
 * @throws connection errors
 */
export const invokeLater = async (functionName: string, event: object): Promise<void> => {
  const { region } = environment;
  const base = environment.endpoint('LAMBDA') ?? `https://lambda.${region}.${dnsSuffix(region)}`;
  const { status, body } = await send('lambda', `${base}/2015-03-31/functions/${functionName}/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
    body: JSON.stringify(event),
  });
  if (status !== 202) throw new AwsCallError(`Http${status}`, `lambda Invoke: ${body.toString('utf8').slice(0, 500)}`);
};

/**
 * Sends a command to a connection of a WebSocket API (API Gateway: @connections commands). True unless the connection
 * is gone.
 * @param url URL of the API's stage
 * @throws {AwsCallError} for an error response of API Gateway
 */
export const callConnection = async (
  url: string,
  connectionId: string,
  call: { method: 'POST'; body: string } | { method: 'DELETE' },
): Promise<boolean> => {
  const local = environment.endpoint('EXECUTE_API');
  const base = local ? `${local}${new URL(url).pathname}` : url;
  const { status, body } = await send('execute-api', `${base}/@connections/${encodeURIComponent(connectionId)}`, call);
  if (status === 410) return false;
  if (status >= 300) throw new AwsCallError(`Http${status}`, `execute-api: ${body.toString('utf8').slice(0, 500)}`);
  return true;
};

/** The Price List API exists in few regions, with the prices of all regions (AWS Billing: Price List endpoints). */
const priceListRegion = 'us-east-1';

/** Calls an operation of the Price List API, e.g. `GetProducts`, once. @throws {AwsCallError} */
export const callPriceList = <T>(operation: string, input: unknown, timeoutMs: number): Promise<T> => {
  const region = priceListRegion;
  const url = environment.endpoint('PRICING') ?? `https://api.pricing.${region}.${dnsSuffix(region)}`;
  const sending = { region, timeoutMs, tries: 1, maxBytes: 4 * 1024 * 1024 };
  return callJson({ name: 'pricing', target: 'AWSPriceListService', url }, operation, input, sending);
};

const errorIn = (text: string): { name: string; message: string } | undefined => {
  try {
    const error = JSON.parse(text) as { __type?: string; message?: string; Message?: string };
    const name = error.__type?.split('#').at(-1);
    return name ? { name, message: error.message ?? error.Message ?? '' } : undefined;
  } catch {
    return undefined;
  }
};

/** DNS suffixes of partitions other than the standard one, by the prefix of their regions' names. */
const dnsSuffixes: Record<string, string> = {
  'cn-': 'amazonaws.com.cn',
  'us-iso-': 'c2s.ic.gov',
  'us-isob-': 'sc2s.sgov.gov',
  'us-isof-': 'csp.hci.ic.gov',
  'eu-isoe-': 'cloud.adc-e.uk',
  'eusc-': 'amazonaws.eu',
};

/** `amazonaws.com` or the suffix of the region's partition. */
export const dnsSuffix = (region: string): string =>
  Object.entries(dnsSuffixes).find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
