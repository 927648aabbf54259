import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ECSClient } from '@aws-sdk/client-ecs';
import { SFNClient } from '@aws-sdk/client-sfn';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dynamodb, ecs, sfn } from '#infra/build/sdk/endpoints.ts';
import { sdkPlugin } from '#infra/build/sdk.ts';
import type { Host } from '#infra/local/host/host.ts';
import { serve } from '#test/support/serve.ts';
import { startHost } from './local/support/application.ts';

const load = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../..', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'sdk-'));
afterAll(() => rmSync(folder, { recursive: true }));
let bundles = 0;

/** A module of the product, bundled as in a function. */
const bundled = async <T>(entry: string): Promise<T> => {
  const file = join(folder, `${++bundles}.cjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    format: 'cjs',
    outfile: file,
    plugins: [sdkPlugin(root)],
  });
  return load(file) as T;
};

describe('endpoints', () => {
  const regions = ['us-east-1', 'eu-central-1', 'cn-north-1', 'us-gov-west-1', 'us-iso-east-1', 'us-isob-east-1'];
  const newer = ['us-isof-south-1', 'eu-isoe-west-1', 'eusc-de-east-1', 'mx-central-1'];

  it.each([
    ['DynamoDB', dynamodb, DynamoDBClient],
    ['Step Functions', sfn, SFNClient],
    ['ECS', ecs, ECSClient],
  ] as const)('of %s match the SDK', (_, endpoint, Client) => {
    const { endpointProvider } = new Client({ region: 'us-east-1' }).config as unknown as {
      endpointProvider: typeof dynamodb;
    };
    for (const Region of [...regions, ...newer]) {
      const parameters = { Region, UseFIPS: false, UseDualStack: false };
      expect(String(endpoint(parameters).url), Region).toBe(String(endpointProvider(parameters).url));
    }
    const own = { Region: 'us-east-1', Endpoint: 'http://127.0.0.1:4566' };
    expect(String(endpoint(own).url)).toBe(String(endpointProvider(own).url));
    const validated = { Region: 'us-east-1', UseFIPS: true, UseDualStack: false };
    expect(String(endpoint(validated).url)).toBe(String(endpointProvider(validated).url));
  });

  it('that are left out fail by name', () => {
    expect(() => dynamodb({ Region: 'us-east-1', UseDualStack: true })).toThrow('dual-stack');
  });
});

describe('the table in a bundle', () => {
  let host: Host;
  let table: typeof import('#platform/store/table.ts');
  beforeAll(async () => {
    host = await startHost();
    const { awsCredentials, awsEndpointUrl, tableName } = host.local;
    vi.stubEnv('AWS_ENDPOINT_URL', awsEndpointUrl);
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', awsCredentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', awsCredentials.secretAccessKey);
    vi.stubEnv('TABLE_NAME', tableName);
    table = await bundled('functions/platform/store/table.ts');
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await host.close();
  });

  it('reads what it wrote, of every type', async () => {
    const item = { pk: 'a', sk: 'b', n: 1.5, s: 'é', l: [1, null, true], m: { x: '' }, set: new Set(['1', '2']) };
    expect(await table.create(item)).toBe(true);
    expect(await table.get({ pk: 'a', sk: 'b' })).toEqual(item);
    expect(await table.query({ pk: 'a', prefix: 'b' })).toEqual([item]);
    expect(await table.batchGet([{ pk: 'a', sk: 'b' }])).toEqual([item]);
  });

  it('recognizes a failed condition by name', async () => {
    expect(await table.create({ pk: 'a', sk: 'b' })).toBe(false);
    expect(await table.update({ pk: 'a', sk: 'b' }, { set: { n: 2 }, condition: 'n = :n', values: { ':n': 9 } })).toBe(
      undefined,
    );
  });

  it('passes on other DynamoDB errors', async () => {
    const failing = table.get({ pk: '', sk: 'b' });
    await expect(failing).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining('empty'),
    });
  });

  it('retries when throttled, and passes on the trace header', async () => {
    const answers = [400, 500, 200];
    const requests: IncomingHttpHeaders[] = [];
    const server = await serve((request, response) => {
      requests.push(request.headers);
      request.resume();
      const status = answers.shift() ?? 200;
      const error = {
        __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
        message: 'no',
      };
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(status === 200 ? { Item: { pk: { S: 'a' } } } : error));
    });
    const before = { ...process.env };
    process.env.AWS_ENDPOINT_URL = server.url;
    process.env.AWS_MAX_ATTEMPTS = '3';
    process.env.AWS_LAMBDA_FUNCTION_NAME = 'F';
    process.env._X_AMZN_TRACE_ID = 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1';
    try {
      const fresh: typeof table = await bundled('functions/platform/store/table.ts');
      expect(await fresh.get({ pk: 'a', sk: 'b' })).toEqual({ pk: 'a' });
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
      server.close();
    }
    expect(requests).toHaveLength(3);
    expect(requests[0]).toMatchObject({
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=ASIALOCALOperator\//),
      'x-amzn-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1',
    });
  });
});

it('the build fails if a replaced part of the SDK has moved', async () => {
  const nothing = build({
    stdin: { contents: 'export {}' },
    bundle: true,
    write: false,
    logLevel: 'silent',
    plugins: [sdkPlugin(root)],
  });
  await expect(nothing).rejects.toThrow('no longer has these parts');
});
