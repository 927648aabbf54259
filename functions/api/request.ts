import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { badRequest, notFound } from './errors.ts';
import { checkBytes, checkEncoding, checkQuery, checkShape, limits } from './limits.ts';

/** The parts of an API Gateway v2 event that routes need. */
export interface ApiRequest {
  /** API Gateway's id of the request. */
  id: string | undefined;
  /** Client IP address. */
  address: string | undefined;
  method: string;
  /** Undecoded, without query. */
  path: string;
  /** Decoded path parameters. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** By lower-case name. */
  header(name: string): string | undefined;
  /** Undefined when there is none. Only sign-in uses cookies; they authenticate no request. */
  cookie(name: string): string | undefined;
  /**
   * The parsed body; undefined when there is none. The content type may be missing; one that cannot be JSON is
   * rejected.
   * @throws {ApiError} 400, 415, 422 (limits.ts)
   */
  json(): unknown;
  /**
   * The body as text, for bodies other than documents.
   * @throws {ApiError} 400 when it is not UTF-8
   */
  text(): string;
  /**
   * The body as fields of an HTML form; empty without a body.
   * @throws {ApiError} 400
   */
  form(): URLSearchParams;
  /** The body as bytes. */
  bytesOfBody(): Buffer;
  /** Size of the body as text. */
  bytes: number;
  /** `https://host[:port]` from the client's URL. */
  baseUrl: string;
}

/** Maximum length of ids and names, since keys of the table are limited. */
const maxParameter = 200;

/** The router leaves path parameters percent-encoded. */
const decode = (text: string): string => {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw notFound('The path is not valid percent-encoded UTF-8.');
  }
  if (decoded.length > maxParameter)
    throw notFound(`The path has an id or a name of more than ${maxParameter} characters.`);
  return decoded;
};

const textOf = ({ body, isBase64Encoded }: APIGatewayProxyEventV2): string => {
  if (!body) return '';
  if (!isBase64Encoded) return body;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'base64'));
  } catch {
    throw badRequest('The body is not valid UTF-8.');
  }
};

const sizeOf = ({ body, isBase64Encoded }: APIGatewayProxyEventV2): number =>
  Buffer.byteLength(body ?? '', isBase64Encoded ? 'base64' : 'utf8');

const parse = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
  checkShape(document);
  return document;
};

/** API Gateway moves cookies out of the headers (HTTP APIs: payload format 2.0). */
const cookieIn = ({ cookies = [] }: APIGatewayProxyEventV2, name: string): string | undefined =>
  cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);

/**
 * @param maxBytes maximum size of the body
 * @throws {ApiError} 413, 414, or 404 for invalid path parameters
 */
export const readRequest = (event: APIGatewayProxyEventV2, maxBytes: number = limits.body): ApiRequest => {
  const { headers, requestContext } = event;
  // AWS omits them if a route has none; emulators send null.
  const pathParameters = event.pathParameters ?? {};
  const header = (name: string) => headers[name];
  const bytes = sizeOf(event);
  checkBytes(bytes, maxBytes);
  return {
    id: requestContext.requestId,
    address: requestContext.http.sourceIp,
    method: requestContext.http.method,
    path: requestContext.http.path,
    params: Object.fromEntries(Object.entries(pathParameters).map(([name, value]) => [name, decode(value ?? '')])),
    query: checkQuery(event.rawQueryString),
    header,
    cookie: (name) => cookieIn(event, name),
    json: () => {
      if (bytes > 0) checkEncoding(header('content-type'), header('content-encoding'));
      return parse(textOf(event));
    },
    bytes,
    bytesOfBody: () => Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    text: () => textOf(event),
    form: () => new URLSearchParams(textOf(event)),
    baseUrl: `${header('x-forwarded-proto') ?? 'https'}://${header('host') ?? requestContext.domainName}`,
  };
};

/**
 * Recognizes our own command line (clients/cli/program.ts) by its User-Agent. HCP's `source` distinguishes only
 * Terraform's command line, which renders logs and plans itself; our command line counts as an API client there.
 */
export const sourceNameOf = (request: ApiRequest): string | undefined =>
  request.header('user-agent')?.startsWith('stepform/') ? 'stepform' : undefined;

/**
 * Origin of runs and configurations: Terraform's command line sends its own headers, and browsers mark requests of
 * the web page (Fetch Metadata: Sec-Fetch-Site).
 */
export const sourceOf = (request: ApiRequest): 'terraform+cloud' | 'terraform' | 'tfe-ui' | 'tfe-api' => {
  if (request.header('x-terraform-integration') === 'cloud') return 'terraform+cloud';
  if (request.header('terraform-version')) return 'terraform';
  return request.header('sec-fetch-site') === 'same-origin' ? 'tfe-ui' : 'tfe-api';
};
