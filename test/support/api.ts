/** The public API's handlers, called as API Gateway calls them, on the local DynamoDB, S3 and KMS. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { Router } from '#infra/local/host/routes.ts';
import type { HttpFunction } from '#infra/stack/functions.ts';
import { record } from '#test/conformance/record.ts';
import { knownApiRoutes } from './api-routes.ts';
import { type Aws, startAws } from './aws.ts';
import { handlerOf } from './handlers.ts';
import { type Storage, startStorage } from './storage.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
type Json = any;

export interface Answered {
  status: number;
  headers: Record<string, string>;
  /** The parsed body, or its text if it is not JSON; undefined if there is none. */
  body: Json;
  cookies?: string[];
}

type Refused = Pick<Answered, 'status' | 'body'>;

/** Status and pointer of a rejected request. */
export const pointerOf = ({ status, body }: Refused) => [status, body.errors[0].source?.pointer];

/** Status and detail of a rejected request. */
export const detailOf = ({ status, body }: Refused) => [status, body.errors[0].detail];

/** A relationship to one resource. */
export const ref = (type: string, id: string) => ({ data: { type, id } });

export interface Sent {
  token?: string | null;
  /** Sent as JSON, or unchanged if it is a string. */
  body?: unknown;
  headers?: Record<string, string>;
  base64?: boolean;
  /** `name=value`, as API Gateway separates them. */
  cookies?: string[];
  /** IP address of the client. */
  address?: string;
}

export interface Api {
  aws: Aws;
  storage: Storage;
  /** Owner of the organization `acme`. */
  token: string;
  userId: string;
  call(method: string, path: string, sent?: Sent): Promise<Answered>;
  get(path: string, sent?: Sent): Promise<Answered>;
  post(path: string, attributes?: object, relationships?: object, sent?: Sent): Promise<Answered>;
  patch(path: string, attributes?: object, relationships?: object): Promise<Answered>;
  /** Creates a workspace and returns its document. */
  workspace(attributes?: object): Promise<Json>;
  /** Creates an uploaded configuration version. */
  configuration(workspaceId: string, attributes?: object, content?: Uint8Array): Promise<Json>;
  close(): Promise<void>;
}

export const gzipHead = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3]);

export const eventOf = (method: string, url: string, sent: Sent = {}): APIGatewayProxyEventV2 => {
  const [path = '/', query = ''] = url.split('?');
  const { token, body, headers = {}, base64 = false, address = '192.0.2.1', cookies = [] } = sent;
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const rawPath = decodeURIComponent(path);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: query,
    queryStringParameters: Object.fromEntries(new URLSearchParams(query)),
    headers: {
      host: 'api.example.test',
      'x-forwarded-proto': 'https',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    cookies,
    requestContext: {
      domainName: 'api.example.test',
      requestId: 'request',
      http: { method, path: rawPath, sourceIp: address },
    },
    body: text && base64 ? Buffer.from(text).toString('base64') : text,
    isBase64Encoded: base64,
  } as unknown as APIGatewayProxyEventV2;
};

let names = 0;
/** A name that is unique in this file. */
export const uniqueName = (prefix: string): string => `${prefix}-${++names}`;

let lastWriteEnded = 0;
/**
 * Lists are ordered by creation time in milliseconds, and a fast machine could create two resources in one. So each
 * creation of a test waits for the next millisecond, but only briefly, because a test may have stopped the clock.
 */
const nextMillisecond = async (): Promise<void> => {
  for (let tries = 0; Date.now() === lastWriteEnded && tries < 3; tries++) await sleep(1);
};

/** Imported later, because it reads the environment variables of the servers below. */
let bucket: typeof import('#platform/store/bucket.ts');

export const startApi = async (options: Parameters<typeof startAws>[0] = {}): Promise<Api> => {
  const aws = await startAws(options);
  const storage = await startStorage();
  // By name instead of ARN.
  const apiRoutes = await knownApiRoutes();
  const gateway = new Router(apiRoutes.map(({ key, target }) => ({ key, functionArn: target, timeoutMs: 29_000 })));
  const { handler: bootstrap } = await import('#resources/organizations/bootstrap.ts');
  bucket = await import('#platform/store/bucket.ts');
  const { createToken } = await import('#resources/users/tokens.ts');
  const { userId } = await bootstrap({ organization: 'acme', email: 'owner@acme.test', username: 'owner' });
  const { secret: token } = await createToken(userId, 'of the owner');

  const call: Api['call'] = async (method, path, sent = {}) => {
    const url = path.startsWith('/') ? path : `/api/v2/${path}`;
    const event = eventOf(method, url, { ...sent, token: sent.token === undefined ? token : sent.token });
    const target = gateway.find(method, event.rawPath)?.route.functionArn;
    // Page and documentation are not bundled for tests.
    const isFiles = target === 'Web' || target === 'Docs';
    const handler = await handlerOf(target === undefined || isFiles ? 'Api' : (target as HttpFunction));
    if (method !== 'GET') await nextMillisecond();
    const { statusCode, headers, body, cookies } = (await handler(event, {} as Context)) as {
      statusCode: number;
      cookies?: string[];
      headers: Record<string, string>;
      body?: string;
    };
    if (method !== 'GET' && statusCode < 300) lastWriteEnded = Date.now();
    record({ method, url, status: statusCode, contentType: headers['content-type'] ?? '', body });
    const isJson = headers['content-type']?.includes('json');
    const content = body && isJson ? JSON.parse(body) : body;
    return { status: statusCode, headers, body: content, ...(cookies ? { cookies } : {}) };
  };
  return apiOf({ aws, storage, token, userId, call });
};

/** The same API, as the user of another token. */
export const actingAs = (api: Api, token: string): Api =>
  apiOf({ ...api, token, call: (method, path, sent) => api.call(method, path, { token, ...sent }) });

const apiOf = ({
  aws,
  storage,
  token,
  userId,
  call,
}: Pick<Api, 'aws' | 'storage' | 'token' | 'userId' | 'call'>): Api => {
  const { putObject } = bucket;
  const send =
    (method: string) =>
    (path: string, attributes?: object, relationships?: object, sent: Sent = {}) =>
      call(method, path, { ...sent, body: { data: { attributes, relationships } } });
  const api: Api = {
    aws,
    storage,
    token,
    userId,
    call,
    get: (path, sent) => call('GET', path, sent),
    post: send('POST'),
    patch: send('PATCH'),
    workspace: async (attributes = {}) => {
      const answer = await api.post('organizations/acme/workspaces', { name: uniqueName('ws'), ...attributes });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return answer.body.data;
    },
    configuration: async (workspaceId, attributes = { 'auto-queue-runs': false }, content = gzipHead) => {
      const created = await api.post(`workspaces/${workspaceId}/configuration-versions`, attributes);
      const { id } = created.body.data;
      await putObject(`uploads/${id}.tar.gz`, Buffer.from(content));
      return (await api.get(`configuration-versions/${id}`)).body.data;
    },
    close: async () => {
      await aws.close();
      await storage.close();
    },
  };
  return api;
};
