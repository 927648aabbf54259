import { request } from 'node:http';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { DescribeTasksCommand, ECSClient, StopTaskCommand } from '@aws-sdk/client-ecs';
import { DecryptCommand, EncryptCommand, GenerateDataKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunUsage } from '#infra/local/aws/lambda/usage.ts';
import type { Host } from '#infra/local/host/host.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { Stack } from '#infra/local/host/template.ts';
import { callerStatements, startHost, testTemplate } from './support/application.ts';
import { until } from './support/until.ts';

const config = () => ({
  endpoint: local.awsEndpointUrl,
  region: 'us-east-1',
  credentials: local.awsCredentials,
  maxAttempts: 1,
});
const account = 'us-east-1:000000000000';
const keyArn = new Stack(testTemplate(), { accountId: '000000000000', region: 'us-east-1', apiUrl: '' }).one(
  'AWS::KMS::Key',
).arn;

const host = await startHost();
const local: Host['local'] = host.local;
afterAll(() => host.close());

const forgedSignature = (accessKeyId: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00`,
  'x-amz-date': new Date().toISOString().replace(/[-:]|\.\d+/g, ''),
});

interface Refusal {
  error: string;
  message: string;
}
type Orders = [does: string, input: unknown][];
/** Output of the function `Caller` for each command. */
const asFunction = (...orders: Orders) => through('http', ...orders);
const through = async (door: 'http' | 'memory', ...orders: Orders) => {
  const event = { door, orders: orders.map(([does, input]) => ({ does, input })) };
  return JSON.parse((await host.lambda.invoke('CallerFunction', JSON.stringify(event))).payload) as (Refusal &
    Record<string, never>)[];
};
const item = (sk: string, more: object = {}) => ({ pk: { S: 'a' }, sk: { S: sk }, ...more });

describe('the SDK’s clients', () => {
  it('DynamoDB', async () => {
    const client = new DynamoDBClient(config());
    const put = (sk: string) =>
      client.send(
        new PutItemCommand({
          TableName: local.tableName,
          Item: item(sk),
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      );
    await put('1');
    await expect(put('1')).rejects.toBeInstanceOf(ConditionalCheckFailedException);
    const { Items } = await client.send(
      new QueryCommand({
        TableName: local.tableName,
        KeyConditionExpression: 'pk = :p',
        ExpressionAttributeValues: { ':p': { S: 'a' } },
      }),
    );
    expect(Items).toEqual([item('1')]);
  });

  it('S3, with ranges', async () => {
    const client = new S3Client({ ...config(), forcePathStyle: true });
    const at = { Bucket: local.bucketName, Key: 'other/ünïcode and space+plus' };
    await client.send(new PutObjectCommand({ ...at, Body: 'hello', ContentType: 'text/plain' }));
    expect(await client.send(new HeadObjectCommand(at))).toMatchObject({ ContentLength: 5, ContentType: 'text/plain' });
    const part = await client.send(new GetObjectCommand({ ...at, Range: 'bytes=1-3' }));
    expect([part.ContentRange, await part.Body?.transformToString()]).toEqual(['bytes 1-3/5', 'ell']);
    await expect(client.send(new GetObjectCommand({ ...at, Range: 'bytes=5-' }))).rejects.toMatchObject({
      name: 'InvalidRange',
    });
    await expect(client.send(new GetObjectCommand({ ...at, Key: 'none' }))).rejects.toMatchObject({
      name: 'NoSuchKey',
    });
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: at.Bucket, Prefix: 'other/' }));
    expect(Contents?.map(({ Key }) => Key)).toEqual([at.Key]);
  });

  it('KMS, with its encryption context', async () => {
    const client = new KMSClient(config());
    const KeyId = keyArn;
    const EncryptionContext = { run: 'run-1', variable: 'v' };
    const { CiphertextBlob } = await client.send(
      new EncryptCommand({ KeyId, Plaintext: Buffer.from('secret'), EncryptionContext }),
    );
    expect(Buffer.from(CiphertextBlob!).includes('secret')).toBe(false);
    const decrypt = (context?: Record<string, string>, blob = CiphertextBlob) =>
      client.send(new DecryptCommand({ CiphertextBlob: blob, EncryptionContext: context }));
    const { Plaintext } = await decrypt({ variable: 'v', run: 'run-1' });
    expect(Buffer.from(Plaintext!).toString()).toBe('secret');
    for (const context of [undefined, {}, { ...EncryptionContext, run: 'run-2' }])
      await expect(decrypt(context)).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
    const forged = Buffer.from(CiphertextBlob!);
    forged[forged.length - 1]! ^= 1;
    await expect(decrypt(EncryptionContext, forged)).rejects.toMatchObject({ name: 'InvalidCiphertextException' });
    const key = await client.send(new GenerateDataKeyCommand({ KeyId, KeySpec: 'AES_256' }));
    expect(key.Plaintext).toHaveLength(32);
    expect((await decrypt(undefined, key.CiphertextBlob)).Plaintext).toEqual(key.Plaintext);
    await expect(
      client.send(new EncryptCommand({ KeyId: 'unknown', Plaintext: Buffer.from('x') })),
    ).rejects.toMatchObject({ name: 'NotFoundException' });
  });

  it('Lambda', async () => {
    const client = new LambdaClient(config());
    const invoke = (payload: unknown, more: object = {}) =>
      client.send(new InvokeCommand({ FunctionName: 'CallerFunction', Payload: JSON.stringify(payload), ...more }));
    const good = await invoke({ orders: [] });
    expect([good.StatusCode, good.FunctionError, Buffer.from(good.Payload!).toString()]).toEqual([
      200,
      undefined,
      '[]',
    ]);
    const bad = await invoke({ body: 'not json' });
    expect([bad.FunctionError, JSON.parse(Buffer.from(bad.Payload!).toString())]).toEqual([
      'Unhandled',
      expect.objectContaining({ errorType: 'SyntaxError' }),
    ]);
    expect((await invoke({ orders: [] }, { InvocationType: 'Event' })).StatusCode).toBe(202);
    await expect(invoke({}, { FunctionName: 'Missing' })).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('Step Functions and ECS, from a function and from outside', async () => {
    const name = 'run-CCCCCCCCCCCCCCCC';
    const runTask = { cluster: `arn:aws:ecs:${account}:cluster/Cluster`, taskDefinition: 'stepform-runner' };
    const [started, ran] = await asFunction(
      [
        'StartExecution',
        { stateMachineArn: local.stateMachineArn, name, input: JSON.stringify({ orders: [['PutItem', {}]] }) },
      ],
      [
        'RunTask',
        { ...runTask, taskDefinition: `arn:aws:ecs:${account}:task-definition/stepform-runner:1`, startedBy: name },
      ],
    );
    const sfn = new SFNClient(config());
    const ended = await until('the execution ends', async () => {
      const execution = await sfn.send(
        new DescribeExecutionCommand({ executionArn: started!.executionArn as unknown as string }),
      );
      return execution.status !== 'RUNNING' && execution;
    });
    expect(ended.status).toBe('SUCCEEDED');
    const ecs = new ECSClient(config());
    const task = (ran!.tasks as unknown as { taskArn: string }[])[0]!.taskArn;
    await ecs.send(new StopTaskCommand({ cluster: 'Cluster', task, reason: 'enough' }));
    const stopped = await until('the task stops', async () => {
      const { tasks } = await ecs.send(new DescribeTasksCommand({ cluster: 'Cluster', tasks: [task] }));
      return tasks?.[0]?.lastStatus === 'STOPPED' && tasks[0];
    });
    expect(stopped).toMatchObject({ stoppedReason: 'enough', stoppedAt: expect.any(Date) });
  });
});

describe.each(['http', 'memory'] as const)("a function's permissions, for calls by %s", (door) => {
  const asFunction = (...orders: Orders) => through(door, ...orders);
  it('allow what its role allows', async () => {
    const [put, got] = await asFunction(
      ['PutItem', { TableName: local.tableName, Item: item('x') }],
      ['GetItem', { TableName: local.tableName, Key: item('x') }],
    );
    expect(put).toEqual({});
    expect(got!.Item).toEqual(item('x'));
  });

  it.each([
    [
      'an action that no statement names',
      'UpdateItem',
      () => ({ TableName: local.tableName, Key: item('x') }),
      'dynamodb:UpdateItem',
    ],
    [
      'an index beside the table',
      'Query',
      () => ({
        TableName: local.tableName,
        IndexName: 'due',
        KeyConditionExpression: 'a = :a',
        ExpressionAttributeValues: { ':a': { S: '' } },
      }),
      'table/Table/index/due',
    ],
    ['another table', 'GetItem', () => ({ TableName: 'Other', Key: item('x') }), 'table/Other'],
    ['another prefix of the bucket', 'putObject', () => 'runs/x', 's3:PutObject'],
    [
      'a cluster that the condition excludes',
      'RunTask',
      () => ({ cluster: 'Other', taskDefinition: `arn:aws:ecs:${account}:task-definition/stepform-runner:1` }),
      'ecs:RunTask',
    ],
    [
      'another machine',
      'StartExecution',
      () => ({ stateMachineArn: `arn:aws:states:${account}:stateMachine:Other` }),
      'states:StartExecution',
    ],
  ])('deny access to %s', async (_, does, input, names) => {
    const [refused] = await asFunction([does, input()]);
    expect(`${refused!.error} ${refused!.message}`).toMatch(/AccessDenied/);
    expect(refused!.message).toContain('function CallerFunction is not authorized to perform');
    expect(refused!.message).toContain(names);
  });

  it('reveal whether an object exists only with list permission', async () => {
    const [missing, forbidden] = await asFunction(['getObject', 'states/none'], ['objectSize', 'inputs/x']);
    expect(missing!.message).toContain('HTTP 403');
    expect(forbidden!.message).toContain('HTTP 403');
  });

  it("require the bucket's key for its objects", async () => {
    const other = await startHost(
      undefined,
      testTemplate(callerStatements.filter(({ Action }) => !JSON.stringify(Action).includes('kms'))),
    );
    const event = JSON.stringify({ orders: [{ does: 'putObject', input: 'states/x' }] });
    const [refused] = JSON.parse((await other.lambda.invoke('CallerFunction', event)).payload) as Refusal[];
    expect(refused!.message).toContain('kms:GenerateDataKey');
    await other.close();
  });
});

describe('a presigned URL', () => {
  it('reads or writes one object without credentials, on a host name of its own', async () => {
    const [put, get] = (await asFunction(
      ['presignPut', 'states/p'],
      ['presignGet', 'states/p'],
    )) as unknown as string[];
    expect(new URL(put!).hostname).not.toBe(new URL(local.url).hostname);
    expect((await fetch(put!, { method: 'PUT', body: 'state' })).status).toBe(200);
    expect(await (await fetch(get!)).text()).toBe('state');
    const part = await fetch(get!, { headers: { range: 'bytes=1-2' } });
    expect([part.status, await part.text()]).toEqual([206, 'ta']);
  });

  it('allows nothing else', async () => {
    const [get] = (await asFunction(['putObject', 'states/q'], ['presignGet', 'states/q'])).slice(
      1,
    ) as unknown as string[];
    const status = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
    expect(await status(get!)).toBe(200);
    expect(await status(get!, { method: 'PUT', body: 'x' })).toBe(403);
    expect(await status(get!.replace('states/q', 'states/p'))).toBe(403);
    expect(await status(get!.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'))).toBe(403);
    expect(await status(get!.split('?')[0]!)).toBe(403);
    const [forbidden] = (await asFunction(['presignPut', 'runs/x'])) as unknown as string[];
    const refused = await fetch(forbidden!, { method: 'PUT', body: 'x' });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('s3:PutObject')]);
  });

  it('keeps the old object when an upload is aborted', async () => {
    const [url] = (await asFunction(['putObject', 'states/half'], ['presignPut', 'states/half'])).slice(
      1,
    ) as unknown as string[];
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('new'));
        setTimeout(() => controller.error(new Error('gone')), 50);
      },
    });
    await expect(
      fetch(url!, { method: 'PUT', body, duplex: 'half', headers: { 'content-length': '100' } } as RequestInit),
    ).rejects.toThrow();
    const client = new S3Client({ ...config(), forcePathStyle: true });
    const { Body } = await client.send(new GetObjectCommand({ Bucket: local.bucketName, Key: 'states/half' }));
    expect(await Body?.transformToString()).toBe('content of states/half');
  });
});

describe('rejected requests', () => {
  it.each([
    ['no signature', {}, 403],
    [
      'a signature that was tampered with',
      {
        authorization:
          'AWS4-HMAC-SHA256 Credential=ASIALOCALCallerFunction/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00',
        'x-amz-date': '20260101T000000Z',
      },
      403,
    ],
    ['an unknown access key', forgedSignature('operator'), 403],
    ['a forged signature of the operator', forgedSignature('ASIALOCALOperator'), 403],
    ['half a signature', { authorization: 'AWS4-HMAC-SHA256 Credential=x' }, 403],
  ])('%s', async (_, headers, status) => {
    const response = await fetch(local.awsEndpointUrl, {
      method: 'POST',
      headers: {
        'x-amz-target': 'DynamoDB_20120810.ListTables',
        'content-type': 'application/x-amz-json-1.0',
        ...(headers as object),
      },
      body: '{}',
    });
    expect(response.status).toBe(status);
    expect((await response.json()) as object).toHaveProperty('__type');
  });

  it('keys that escape the bucket', async () => {
    const [url] = (await asFunction(['presignGet', 'states/x'])) as unknown as string[];
    const { host: at, search } = new URL(url!);
    const status = await new Promise((resolve) => {
      request(
        {
          host: at.split(':')[0],
          port: at.split(':')[1],
          path: `/${local.bucketName}/states/%2e%2e/%2e%2e/credentials.key${search}`,
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      ).end();
    });
    expect(status).toBeGreaterThanOrEqual(400);
  });
});

describe('events', () => {
  const recorded = async (kind: string, about: string) => {
    const client = new DynamoDBClient(config());
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: local.tableName,
        KeyConditionExpression: 'pk = :p',
        ExpressionAttributeValues: { ':p': { S: kind } },
      }),
    );
    return Items.map(({ event }) => event!.S!).find((text) => text.includes(about));
  };

  it('report new objects', async () => {
    await asFunction(['putObject', 'states/announced']);
    const event = await until('the event', () => recorded('Object Created', 'states/announced'));
    expect(JSON.parse(event)).toMatchObject({
      source: 'aws.s3',
      detail: {
        bucket: { name: local.bucketName },
        object: { key: 'states/announced', size: 27, etag: expect.stringMatching(/^[0-9a-f]{32}$/) },
      },
    });
  });

  it('report ended executions', async () => {
    await asFunction([
      'StartExecution',
      { stateMachineArn: local.stateMachineArn, name: 'told', input: '{"orders":[]}' },
    ]);
    const event = await until('the event', () => recorded('Step Functions Execution Status Change', '"SUCCEEDED"'));
    expect(JSON.parse(event).detail).toMatchObject({ stateMachineArn: local.stateMachineArn });
  });
});

describe('usage', () => {
  const run = 'run-DDDDDDDDDDDDDDDD';
  const usage = async () => (await (await operatorFetch(local, `/_usage?run=${run}`)).json()) as RunUsage;

  it('counts the calls of a run over HTTP, the state machine and presigned URLs', async () => {
    const orders = [
      { does: 'GetItem', input: { TableName: local.tableName, Key: item('none'), ConsistentRead: true } },
      { does: 'PutItem', input: { TableName: local.tableName, Item: item(run, { x: { S: 'x'.repeat(1500) } }) } },
      {
        does: 'PutItem',
        input: { TableName: local.tableName, Item: item(run), ConditionExpression: 'attribute_not_exists(pk)' },
      },
      { does: 'putObject', input: 'states/u' },
      { does: 'getObject', input: 'states/u' },
      { does: 'presignGet', input: 'states/u' },
      { does: 'GenerateDataKey', input: { KeyId: keyArn, NumberOfBytes: 32 } },
    ];
    const answers = (await (
      await fetch(`${local.url}/call/x`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(orders),
      })
    ).json()) as string[];
    await (await fetch(answers[5]!)).text();
    await asFunction([
      'StartExecution',
      { stateMachineArn: local.stateMachineArn, name: run, input: JSON.stringify({ orders: orders.slice(0, 1) }) },
    ]);
    const { calls, price, totals } = await until('the execution is counted', async () => {
      const now = await usage();
      // Two calls, and one execution whose end an event rule passes to the function that stores events.
      return now.totals.lambdaRequests === 4 && now.totals.transitions > 0 && now;
    });
    expect(totals).toMatchObject({
      readUnits: 2,
      apiRequests: 1,
      s3Puts: 1,
      s3Gets: 2,
      kmsRequests: 1,
      fargateVcpuHours: 0,
    });
    // 2 KB, a condition that failed, and the event.
    expect(calls).toContainEqual({ service: 'dynamodb', action: 'PutItem', count: 3, units: { writeUnits: 5 } });
    expect(calls).toContainEqual({ service: 'states', action: 'StartExecution', count: 1, units: {} });
    expect(calls).toContainEqual(expect.objectContaining({ service: 'lambda', action: 'CallerFunction', count: 3 }));
    expect(price.usd).toBeGreaterThan(0);
    expect(price.asOf).toMatch(/^\d{4}-\d\d$/);
  });

  it('is empty for an unknown run', async () => {
    const response = await operatorFetch(local, '/_usage?run=run-EEEEEEEEEEEEEEEE');
    expect(await response.json()).toMatchObject({ calls: [], price: { usd: 0 } });
  });
});
