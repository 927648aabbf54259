/** S3 and KMS of the local platform, with signatures checked, for tests of stored content. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readSignature, sha256, verify } from '#infra/local/aws/iam/signature.ts';
import { Kms } from '#infra/local/aws/kms/kms.ts';
import { S3, type S3Reply } from '#infra/local/aws/s3/s3.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import type { DirectCalls } from '#platform/store/direct-calls.ts';

export interface Storage {
  /** `<service> <action or method and path>` of each call, in order. */
  calls: string[];
  /** Answers the next n calls with 503, S3's response under load, or with 400, its response to a late body. */
  busy(n: number, code?: 'SlowDown' | 'RequestTimeout'): void;
  /** Keys of all objects with content. */
  objects(): string[];
  close(): Promise<void>;
}

const secret = 'test';
const keyArn = 'arn:aws:kms:us-east-1:000000000000:key/test';
const identityKeyArns = ['signing', 'retired'].map((name) => `arn:aws:kms:us-east-1:000000000000:key/${name}`);

const read = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
};

const bytesOf = async ({ body }: S3Reply): Promise<Buffer> => (Buffer.isBuffer(body) ? body : buffer(body));

let atEndpoint: { url: string; call: DirectCalls['request'] } | undefined;

/** Calls the service at the endpoint without HTTP; undefined if it is not a storage of this process. */
export const storageCall = (endpoint: string): DirectCalls['request'] | undefined =>
  atEndpoint?.url === endpoint ? atEndpoint.call : undefined;

/** Sets the endpoints and names of bucket and key in the environment. */
export const startStorage = async (): Promise<Storage> => {
  const folder = mkdtempSync(join(tmpdir(), 'storage-'));
  const s3 = new S3(join(folder, 's3'), () => {});
  s3.ensureBucket('stepform-test');
  const kms = new Kms(join(folder, 'kms'), [
    { arn: keyArn, properties: {} },
    ...identityKeyArns.map((arn) => ({ arn, properties: { KeyUsage: 'SIGN_VERIFY' } })),
  ]);
  let refusals = 0;
  let refusal = 'SlowDown';
  const calls: string[] = [];
  const refusalStatus = () => (refusal === 'SlowDown' ? 503 : 400);
  const answerKms = async (action: string, body: Buffer): Promise<string> => {
    calls.push(`kms ${action}`);
    return JSON.stringify(await kms.handle(action, JSON.parse(body.toString())));
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const signature = readSignature(request);
    if (!signature) throw new AwsError('AccessDenied', 'not signed', 403);
    if (signature.service === 's3') {
      const presigned = signature.expires !== undefined;
      verify(
        request,
        signature,
        secret,
        presigned ? 'UNSIGNED-PAYLOAD' : String(request.headers['x-amz-content-sha256']),
      );
      calls.push(`s3 ${request.method} ${request.url?.split('?')[0]}`);
      const { method = 'GET', url = '/', headers } = request;
      const reply = await s3.handle({ method, url, headers, body: request });
      return void response.writeHead(reply.status, reply.headers).end(await bytesOf(reply));
    }
    const body = await read(request);
    verify(request, signature, secret, sha256(body));
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const answer = await answerKms(action, body);
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(answer);
  };

  const answer: DirectCalls['request'] = async ({ service, method, path, headers, body = '' }) => {
    const bytes =
      typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (refusals > 0) {
      refusals--;
      return { status: refusalStatus(), headers: {}, body: Buffer.from(`<Error><Code>${refusal}</Code></Error>`) };
    }
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    try {
      if (service === 'kms') {
        const answer = await answerKms(String(named['x-amz-target']).split('.')[1] ?? '', bytes);
        return { status: 200, headers: { 'content-type': 'application/x-amz-json-1.1' }, body: Buffer.from(answer) };
      }
      calls.push(`s3 ${method} ${path.split('?')[0]}`);
      const reply = await s3.handle({ method, url: path, headers: named, body: [bytes] });
      return { ...reply, body: await bytesOf(reply) };
    } catch (error) {
      const { name, message, statusCode } = error as AwsError;
      const status = error instanceof AwsError ? (statusCode ?? 400) : 500;
      return { status, headers: {}, body: Buffer.from(JSON.stringify({ __type: name, message })) };
    }
  };
  /** Requests in progress; their function may have failed meanwhile without waiting for them. */
  const open = new Set<Promise<unknown>>();
  /** The same for a function that does not sign. */
  const direct: DirectCalls['request'] = (request) => {
    const answered = answer(request);
    open.add(answered);
    answered.finally(() => open.delete(answered)).catch(() => {});
    return answered;
  };

  const server = createServer((request, response) => {
    if (refusals > 0) {
      refusals--;
      request.resume();
      response.writeHead(refusalStatus()).end(`<Error><Code>${refusal}</Code></Error>`);
      return;
    }
    handle(request, response).catch((error: Error) => {
      const status = error instanceof AwsError ? (error.statusCode ?? 400) : 500;
      response.writeHead(status).end(JSON.stringify({ __type: error.name, message: error.message }));
    });
  });
  // Closing an idle connection just before its reuse would fail a call, and tests do not retry.
  server.keepAliveTimeout = 0;
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
  const url = `http://127.0.0.1:${port}`;
  atEndpoint = { url, call: direct };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: url,
    AWS_ENDPOINT_URL_KMS: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: secret,
    BUCKET_NAME: 'stepform-test',
    KEY_ARN: keyArn,
    IDENTITY_KEY_ARNS: identityKeyArns.join(','),
  });
  return {
    calls,
    busy: (n, code = 'SlowDown') => {
      refusals = n;
      refusal = code;
    },
    objects: () => {
      const root = join(folder, 's3', 'stepform-test');
      const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
      // Its attributes take 1,024 bytes.
      const withContent = files.filter((name) => name.endsWith('=') && statSync(join(root, name)).size > 1024);
      return withContent.map((name) => decodeURIComponent(name.slice(0, -1)));
    },
    close: async () => {
      await Promise.allSettled(open);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
