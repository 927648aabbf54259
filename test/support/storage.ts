/** S3 and KMS as the local platform has them, with signatures checked, for tests of what is written and read there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsError } from '../../infra/local/errors.ts';
import { Kms } from '../../infra/local/kms.ts';
import { S3 } from '../../infra/local/s3.ts';
import { readSignature, sha256, verify } from '../../infra/local/signature.ts';

export interface Storage {
  /** `<service> <action or method and path>` of each call, in order. */
  calls: string[];
  /**
   * Answers the next n calls with 503, as S3 does when it wants to be asked more slowly, or with 400, as when a body did
   * not come in time.
   */
  busy(n: number, code?: 'SlowDown' | 'RequestTimeout'): void;
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

/** Sets the endpoints and names of bucket and key in the environment. */
export const startStorage = async (): Promise<Storage> => {
  const folder = mkdtempSync(join(tmpdir(), 'storage-'));
  const s3 = new S3(join(folder, 's3'), () => {});
  const kms = new Kms(join(folder, 'kms'), [
    { arn: keyArn, properties: {} },
    ...identityKeyArns.map((arn) => ({ arn, properties: { KeyUsage: 'SIGN_VERIFY' } })),
  ]);
  await s3.ensureBucket('stepform-test');
  let refusals = 0;
  let refusal = 'SlowDown';
  const calls: string[] = [];

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
      return s3.handle(request, response);
    }
    const body = await read(request);
    verify(request, signature, secret, sha256(body));
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    calls.push(`kms ${action}`);
    const answer = await kms.handle(action, JSON.parse(body.toString()));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer));
  };

  const server = createServer((request, response) => {
    if (refusals > 0) {
      refusals--;
      request.resume();
      response.writeHead(refusal === 'SlowDown' ? 503 : 400).end(`<Error><Code>${refusal}</Code></Error>`);
      return;
    }
    handle(request, response).catch((error: Error) => {
      const status = error instanceof AwsError ? (error.statusCode ?? 400) : 500;
      response.writeHead(status).end(JSON.stringify({ __type: error.name, message: error.message }));
    });
  });
  // An idle connection that is closed while it is used again fails a call, and tests do not try twice.
  server.keepAliveTimeout = 0;
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
    AWS_ENDPOINT_URL_KMS: `http://127.0.0.1:${port}`,
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
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      s3.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
