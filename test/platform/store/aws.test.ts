import type { IncomingHttpHeaders } from 'node:http';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, it, vi } from 'vitest';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { Stack } from '#infra/local/host/template.ts';
import { callConnection, callEmail, callKms, callParameterStore, invokeLater, invokeNow } from '#platform/store/aws.ts';
import { dynamodb } from '#platform/store/dynamodb.ts';
import { startHost, testTemplate } from '#test/infra/local/support/application.ts';
import { serve } from '#test/support/serve.ts';

/** Signed requests, to the local platform's endpoint. */

const host = await startHost();
const { awsCredentials, awsEndpointUrl } = host.local;
vi.stubEnv('AWS_ENDPOINT_URL', awsEndpointUrl);
vi.stubEnv('AWS_REGION', 'us-east-1');
vi.stubEnv('AWS_ACCESS_KEY_ID', awsCredentials.accessKeyId);
vi.stubEnv('AWS_SECRET_ACCESS_KEY', awsCredentials.secretAccessKey);
afterAll(() => host.close());

const home = { accountId: '000000000000', region: 'us-east-1', apiUrl: '' };
const keyArn = new Stack(testTemplate(), home).one('AWS::KMS::Key').arn;

it('KMS returns its output, or an error with code and status', async () => {
  const made = await callKms<{ Plaintext: string; CiphertextBlob: string }>('GenerateDataKey', { KeyId: keyArn });
  const { CiphertextBlob, Plaintext } = made;
  expect(await callKms('Decrypt', { CiphertextBlob })).toMatchObject({ Plaintext });
  const forged = { CiphertextBlob, EncryptionContext: { run: 'another' } };
  await expect(callKms('Decrypt', forged)).rejects.toMatchObject({
    name: 'InvalidCiphertextException',
    message: 'InvalidCiphertextException (TrentService.Decrypt)',
    statusCode: 400,
  });
});

it.each(['ThrottlingException', 'KMSInternalException'])('a call is repeated after %s', async (error) => {
  const rule = { kind: 'refuse', service: 'kms', error, function: 'operator', nth: 1 };
  await operatorFetch(host.local, '/_faults', { method: 'PUT', body: JSON.stringify([rule]) });
  expect(await callKms('GenerateDataKey', { KeyId: keyArn })).toHaveProperty('Plaintext');
  const [counted] = (await (await operatorFetch(host.local, '/_faults')).json()) as { injected: number }[];
  expect(counted?.injected).toBe(1);
});

it('a function is invoked asynchronously', async () => {
  const { tableName: TableName } = host.local;
  const Key = { pk: { S: 'invoked' }, sk: { S: 'later' } };
  await invokeLater('CallerFunction', { orders: [{ does: 'PutItem', input: { TableName, Item: Key } }] });
  const get = () => dynamodb().send(new GetItemCommand({ TableName, Key }));
  await vi.waitFor(async () => expect((await get()).Item).toEqual(Key), 20_000);
  await expect(invokeLater('none', {})).rejects.toMatchObject({ name: 'ResourceNotFoundException', statusCode: 404 });
});

it('a function is invoked once, and its result awaited', async () => {
  const { tableName: TableName } = host.local;
  const put = { orders: [{ does: 'PutItem', input: { TableName, Item: { pk: { S: 'invoked' }, sk: { S: 'now' } } } }] };
  expect(await invokeNow('CallerFunction', put, 20_000)).toHaveLength(1);
  await expect(invokeNow('CallerFunction', { orders: 1 }, 20_000)).rejects.toThrow('CallerFunction failed: ');
  await expect(invokeNow('none', {}, 20_000)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
});

it('an invocation passes on the trace by which Lambda recognizes recursive loops', async () => {
  const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=3995c3f42cd8ad8d;Sampled=0;Lineage=1:a87bd80c:1';
  const headers: IncomingHttpHeaders[] = [];
  const server = await serve((request, response) => {
    headers.push(request.headers);
    response.writeHead(202).end();
  });
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', server.url);
  vi.stubEnv('_X_AMZN_TRACE_ID', trace);
  try {
    await invokeLater('CallerFunction', {});
  } finally {
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', undefined);
    vi.stubEnv('_X_AMZN_TRACE_ID', undefined);
    server.close();
  }
  expect(headers[0]).toMatchObject({
    'x-amzn-trace-id': trace,
    authorization: expect.not.stringContaining('x-amzn-trace-id'),
  });
});

it('an e-mail that SES rejects is an error with its status', async () => {
  await expect(callEmail({})).rejects.toMatchObject({ name: 'AccessDeniedException', statusCode: 403 });
});

it('a connection that is gone is a result', async () => {
  expect(await callConnection('wss://sockets.test/logs', 'gone=', 'message')).toBe(false);
  expect(await callConnection('wss://sockets.test/logs', 'gone=')).toBe(false);
});

it('the local platform rejects calls to services that it does not have', async () => {
  const read = callParameterStore('GetParameter', { Name: 'x' });
  await expect(read).rejects.toThrow('the local platform has no AmazonSSM API (AmazonSSM.GetParameter)');
});
