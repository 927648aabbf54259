import http from 'node:http';
import https from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { environment } from '#platform/environment.ts';
import { idleMs } from './patience.ts';
import { type AwsResponse, type Call, local, type Services } from './services.ts';

/**
 * Services without an SDK client: S3 and KMS need a handful of operations, and their clients would add more to every
 * bundle (305 and 28 KB) than all code that uses them (decisions/0005). On AWS each call is a signed request.
 */

/** Derived signing keys, by day and service; aws4fetch fills it. */
const signingKeys = new Map<string, ArrayBuffer>();
/**
 * No idle timeout, so that the next invocation reuses a connection; a request on a dead connection is repeated.
 */
const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };

export interface SendOptions {
  /** A larger body is not read: the response has an empty one, and its size in `content-length`. */
  maxBytes?: number;
  /** Region of the signature; missing: the function's own. */
  region?: string;
  timeoutMs?: number;
  /** Maximum attempts. */
  tries?: number;
}

const sign = (
  service: string,
  url: string,
  { method, headers, body }: Call,
  options: { signQuery?: boolean; allHeaders?: boolean; region?: string } = {},
) =>
  new AwsV4Signer({
    ...environment.credentials,
    region: environment.region,
    service,
    cache: signingKeys,
    url,
    method,
    headers,
    // The content of objects is not signed; a checksum protects it.
    body: body instanceof Readable ? undefined : body,
    ...options,
  }).sign();

/**
 * As the SDK sends it, unsigned: by it Lambda recognizes functions that invoke each other in a loop (Lambda: recursive
 * loop detection).
 */
const traceHeader = (): http.OutgoingHttpHeaders => {
  const { trace } = environment;
  return trace ? { 'x-amzn-trace-id': trace } : {};
};

/** One attempt. Uses Node's own client: the first `fetch` of a process takes 50 ms longer. */
const attempt = async (
  service: string,
  url: string,
  call: Call,
  { maxBytes = Infinity, region = environment.region, timeoutMs = idleMs }: SendOptions,
): Promise<AwsResponse> => {
  const { method, body } = call;
  const signed = await sign(service, url, call, { region });
  const headers: http.OutgoingHttpHeaders = { ...Object.fromEntries(signed.headers), ...traceHeader() };
  const isStream = body instanceof Readable;
  if (body !== undefined && !isStream) headers['content-length'] = Buffer.byteLength(body);
  const { promise, resolve, reject } = Promise.withResolvers<AwsResponse>();
  const plain = url.startsWith('http:');
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
  if (isStream) pipeline(body, request, (error) => error && reject(error));
  else request.end(body);
  return promise;
};

/** The SDK waits five times as long when a service asks to slow down (@smithy/util-retry: delay bases 100 and 500 ms). */
const pause = (tries: number, isThrottled = false): Promise<void> =>
  delay(Math.random() * (isThrottled ? 250 : 50) * 2 ** tries);

const isThrottle = ({ status, body }: AwsResponse): boolean =>
  status === 429 ||
  (status === 503 && /<Code>SlowDown</.test(body.toString())) ||
  (status === 400 && /"__type":\s*"[^"]*Throttl/.test(body.toString()));

/** A copy that fails midway is answered with 200 and an error (S3 API: CopyObject). */
const isBrokenCopy = ({ headers }: Call, { status, body }: AwsResponse): boolean =>
  status === 200 && headers?.['x-amz-copy-source'] !== undefined && /^(<\?xml[^>]*>\s*)?<Error>/.test(body.toString());

/**
 * A temporary refusal: S3 answers 400 to a body that did not arrive in time (S3: error responses), and 409 to a
 * conditional write that meets another write of the object (S3: conditional writes).
 */
const isPassing = (call: Call, reply: AwsResponse): boolean => {
  const { status, body } = reply;
  return (
    status >= 500 ||
    isThrottle(reply) ||
    isBrokenCopy(call, reply) ||
    (status === 400 && /<Code>RequestTimeout</.test(body.toString())) ||
    (status === 409 && /<Code>ConditionalRequestConflict</.test(body.toString()))
  );
};

/**
 * One request, repeated after a connection error or a temporary refusal (Lambda thaws with dead connections, S3 asks to
 * slow down). Returns the last response with any status.
 */
const send = async (service: string, url: string, call: Call, sending: SendOptions = {}): Promise<AwsResponse> => {
  // A stream can be read once.
  const { tries: maxTries = call.body instanceof Readable ? 1 : environment.maxAttempts } = sending;
  for (let tries = 1; ; tries++) {
    const last = tries >= maxTries;
    let isThrottled = false;
    try {
      const reply = await attempt(service, url, call, sending);
      if (last || !isPassing(call, reply)) return reply;
      isThrottled = isThrottle(reply);
    } catch (error) {
      if (last) throw error;
    }
    await pause(tries, isThrottled);
  }
};

/** A request to S3. @param url in the form that {@link presign} takes */
export const callS3 = (url: string, call: Call, sending?: SendOptions): Promise<AwsResponse> =>
  local()?.objects(url, call) ?? send('s3', url, call, sending);

/**
 * A URL of S3 that contains its own permission until it expires. The given headers are signed: the client must send the same
 * ones.
 */
export const presign = async (
  url: string,
  method: string,
  expiresSeconds: number,
  headers: Record<string, string> = {},
): Promise<string> => {
  const withExpiry = new URL(url);
  withExpiry.searchParams.set('X-Amz-Expires', String(expiresSeconds));
  const call = { method, headers };
  return String((await sign('s3', String(withExpiry), call, { signQuery: true, allHeaders: true })).url);
};

/** A refusal of an AWS service; `name` is its error code, e.g. `AccessDeniedException`. */
class AwsCallError extends Error {
  readonly statusCode: number;

  constructor({ status, headers, body }: AwsResponse, call: string) {
    const text = body.toString('utf8');
    const { __type, message, Message } = errorIn(text);
    const code = __type?.split('#').at(-1) ?? String(headers['x-amzn-errortype'] ?? '').split(':')[0];
    // KMS gives no message for some errors.
    super(`${message || Message || code || text.slice(0, 500)} (${call})`);
    this.name = code || `Http${status}`;
    this.statusCode = status;
  }
}

const errorIn = (text: string): { __type?: string; message?: string; Message?: string } => {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
};

/** URL of a service, without a trailing slash. */
const urlOf = (service: Parameters<typeof environment.endpoint>[0], host: string, region = environment.region) =>
  environment.endpoint(service) ?? `https://${host}.${region}.${dnsSuffix(region)}`;

/**
 * Calls an operation of a service that speaks JSON over POST; input and output have the form of its API reference.
 * @param service its name in signatures
 * @param target `x-amz-target`
 * @throws {AwsCallError} for an error response
 * @throws connection errors
 */
const callJson = async <T>(
  service: string,
  url: string,
  target: string,
  input: unknown,
  sending?: SendOptions,
): Promise<T> => {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const answer = await send(service, `${url}/`, { method: 'POST', headers, body: JSON.stringify(input) }, sending);
  if (answer.status !== 200) throw new AwsCallError(answer, target);
  return JSON.parse(answer.body.toString() || '{}') as T;
};

/** Calls an operation of KMS, e.g. `Decrypt`. @throws {AwsCallError} */
export const callKms: Services['keys'] = (operation, input) =>
  local()?.keys(operation, input) ?? callJson('kms', urlOf('KMS', 'kms'), `TrentService.${operation}`, input);

/** Calls an operation of Parameter Store, which a local platform does not have. @throws {AwsCallError} */
export const callParameterStore = <T>(operation: string, input: unknown): Promise<T> =>
  callJson('ssm', urlOf('SSM', 'ssm'), `AmazonSSM.${operation}`, input);

/** The Price List API exists in few regions, with the prices of all regions (AWS Billing: Price List endpoints). */
const priceListRegion = 'us-east-1';

/** Calls an operation of the Price List API once; a local platform does not have it. @throws {AwsCallError} */
export const callPriceList = <T>(operation: string, input: unknown, timeoutMs: number): Promise<T> => {
  const sending = { region: priceListRegion, timeoutMs, tries: 1, maxBytes: 4 * 1024 * 1024 };
  const url = urlOf('PRICING', 'api.pricing', priceListRegion);
  return callJson('pricing', url, `AWSPriceListService.${operation}`, input, sending);
};

/**
 * Invokes a function asynchronously; Lambda retries it when it fails (Lambda: asynchronous invocation).
 * @throws {AwsCallError} Lambda's error, or connection errors
 */
export const invokeLater: Services['invoke'] = async (functionName, event) => {
  const here = local();
  if (here) return here.invoke(functionName, event);
  const answer = await invoke('Event', functionName, event);
  if (answer.status !== 202) throw new AwsCallError(answer, 'Lambda Invoke');
};

/** Invokes a function once and waits. @param timeoutMs above the function's own limit @throws {Error} if it fails */
export const invokeNow = async (functionName: string, event: object, timeoutMs: number): Promise<unknown> => {
  const here = local();
  if (here) return here.call(functionName, event);
  const answer = await invoke('RequestResponse', functionName, event, { timeoutMs, tries: 1 });
  if (answer.status !== 200) throw new AwsCallError(answer, 'Lambda Invoke');
  const payload = answer.body.toString();
  if (answer.headers['x-amz-function-error']) throw new Error(`${functionName} failed: ${payload.slice(0, 500)}`);
  return JSON.parse(payload);
};

const invoke = (type: 'Event' | 'RequestResponse', functionName: string, event: object, sending?: SendOptions) => {
  const url = `${urlOf('LAMBDA', 'lambda')}/2015-03-31/functions/${functionName}/invocations`;
  const headers = { 'content-type': 'application/json', 'x-amz-invocation-type': type };
  return send('lambda', url, { method: 'POST', headers, body: JSON.stringify(event) }, sending);
};

/**
 * Sends a message with SES (SES API v2: SendEmail). At most two requests: if a response was lost, the next request
 * sends the message twice.
 * @throws {AwsCallError} if SES rejects the message
 */
export const callEmail: Services['mail'] = async (message) => {
  const here = local();
  if (here) return here.mail(message);
  const url = `${urlOf('SESV2', 'email')}/v2/email/outbound-emails`;
  const headers = { 'content-type': 'application/json' };
  const answer = await send('ses', url, { method: 'POST', headers, body: JSON.stringify(message) }, { tries: 2 });
  if (answer.status !== 200) throw new AwsCallError(answer, 'SES SendEmail');
};

/**
 * Sends a message to a connection of a WebSocket API, or closes it without one (API Gateway: @connections commands).
 * True unless the connection is gone.
 * @param stage URL of the API's stage
 * @throws {AwsCallError} for an error response of API Gateway
 */
export const callConnection: Services['connection'] = async (stage, connectionId, message) => {
  const here = local();
  if (here) return here.connection(stage, connectionId, message);
  const endpoint = environment.endpoint('EXECUTE_API');
  const base = endpoint ? `${endpoint}${new URL(stage).pathname}` : stage;
  const call = { method: message === undefined ? 'DELETE' : 'POST', body: message };
  const answer = await send('execute-api', `${base}/@connections/${encodeURIComponent(connectionId)}`, call);
  if (answer.status >= 300 && answer.status !== 410) throw new AwsCallError(answer, 'API Gateway @connections');
  return answer.status !== 410;
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
