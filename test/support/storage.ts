/** S3 and KMS of the local platform, with signatures checked, for tests of stored content. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readSignature, sha256, verify } from '#infra/local/aws/iam/signature.ts';
import { Kms } from '#infra/local/aws/kms/kms.ts';
import { S3, type S3Reply } from '#infra/local/aws/s3/s3.ts';
import { retried } from '#infra/local/host/client.ts';
import { Database } from '#infra/local/host/database.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import { replyOf } from '#infra/local/host/services.ts';
import type { Services } from '#platform/store/services.ts';
import { closeAfterFile } from './undo.ts';

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

/** The storage of this file for calls without HTTP. */
export let storageHere: Pick<Services, 'objects' | 'keys'> | undefined;

/** Sets the endpoints and names of bucket and key in the environment. */
export const startStorage = async (): Promise<Storage> => {
  const folder = mkdtempSync(join(tmpdir(), 'storage-'));
  const database = Database.inMemory();
  const s3 = new S3(database, join(folder, 's3'), () => {});
  s3.ensureBucket('stepform-test');
  const kms = new Kms(join(folder, 'kms'), [
    { arn: keyArn, properties: {} },
    ...identityKeyArns.map((arn) => ({ arn, properties: { KeyUsage: 'SIGN_VERIFY' } })),
  ]);
  let refusals = 0;
  let refusal = 'SlowDown';
  const calls: string[] = [];
  const refusalStatus = () => (refusal === 'SlowDown' ? 503 : 400);
  const keys = (action: string, input: object) => {
    calls.push(`kms ${action}`);
    return kms.handle(action, { ...input });
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
    const answer = await keys(action, JSON.parse(body.toString()));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer));
  };

  /** Requests in progress; their function may have failed meanwhile without waiting for them. */
  const open = new Set<Promise<unknown>>();
  const here = <T>(perform: () => Promise<T>): Promise<T> => {
    const done = retried(async () => {
      if (refusals-- > 0) throw new AwsError(refusal, 'busy', refusalStatus());
      return perform();
    }, Number(process.env.AWS_MAX_ATTEMPTS));
    open.add(done);
    done.finally(() => open.delete(done)).catch(() => {});
    return done;
  };
  storageHere = {
    keys: <T>(action: string, input: object) => here(() => keys(action, input) as Promise<T>),
    objects: (url, { method, headers = {}, body = '' }) =>
      here(async () => {
        const { pathname, search } = new URL(url);
        calls.push(`s3 ${method} ${pathname}`);
        const content = body instanceof Readable ? body : [typeof body === 'string' ? Buffer.from(body) : body];
        const reply = await s3.handle({ method, url: pathname + search, headers, body: content });
        return { ...reply, body: await bytesOf(reply) };
      }).catch(replyOf),
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
    objects: () =>
      database
        .statement('SELECT key FROM objects WHERE size > 0')
        .all()
        .map(({ key }) => key as string),
    close: closeAfterFile(async () => {
      await Promise.allSettled(open);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    }),
  };
};
