import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { preflight } from '#clients/cli/preflight.ts';

/** STS and Parameter Store, as far as they are asked. */
let server: Server;
let folder: string;
let identity: { status: number; body: string };
let parameter: { status: number; body: string };
let quota: { status: number; body: string };
const actions: string[] = [];

const docker = (script: string): string => {
  const path = join(folder, 'docker');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'preflight-'));
  server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target'] ?? (await text(request)));
    actions.push(action);
    const { status, body } = action.includes('GetParameter') ? parameter : action.includes('Quota') ? quota : identity;
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  actions.length = 0;
  identity = {
    status: 200,
    body: '<GetCallerIdentityResponse><Account>123456789012</Account></GetCallerIdentityResponse>',
  };
  parameter = { status: 200, body: JSON.stringify({ Parameter: { Value: '21' } }) };
  quota = { status: 200, body: JSON.stringify({ Quota: { Value: 1000 } }) };
  vi.unstubAllEnvs();
  for (const name of ['AWS_PROFILE', 'AWS_DEFAULT_REGION', 'AWS_SESSION_TOKEN', 'AWS_ENDPOINT_URL_STS'])
    vi.stubEnv(name, '');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('CDK_DOCKER', docker('echo 28.0'));
});

const whats = async () => (await preflight()).missing.map(({ what }) => what);

it('finds no missing prerequisites in a prepared account', async () => {
  expect(await preflight()).toEqual({ account: '123456789012', region: 'eu-central-1', missing: [], low: [] });
  expect(actions).toHaveLength(4);
});

it('names low quotas of a new account and how to raise them, without blocking the deployment', async () => {
  quota.body = JSON.stringify({ Quota: { Value: 6 } });
  const { missing, low } = await preflight();
  expect(missing).toEqual([]);
  expect(low).toEqual([
    {
      what: 'Lambda: concurrent executions: 6 in eu-central-1. Runs will wait for each other.',
      todo: 'aws service-quotas request-service-quota-increase --region eu-central-1 --service-code lambda --quota-code L-B99A9384 --desired-value 1000',
    },
    expect.objectContaining({ what: expect.stringContaining('Fargate: On-Demand vCPUs: 6') }),
  ]);
  // Who may not look deploys all the same.
  for (const [status, body] of [
    [400, '{"__type":"AccessDeniedException"}'],
    [200, 'no JSON'],
  ] as const) {
    quota = { status, body };
    expect((await preflight()).low).toEqual([]);
  }
});

it('names a missing region and missing credentials without calling AWS', async () => {
  vi.stubEnv('AWS_REGION', undefined);
  vi.stubEnv('AWS_DEFAULT_REGION', undefined);
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
  vi.stubEnv('CDK_DOCKER', join(folder, 'nothing-there'));
  expect(await whats()).toEqual([
    'Region: not set.',
    'Credentials: not found.',
    expect.stringContaining('nothing-there not found on the PATH'),
  ]);
  expect(actions).toEqual([]);
});

it('names credentials that AWS rejects, and stops there', async () => {
  identity = { status: 403, body: '<Error><Message>The security token is expired</Message></Error>' };
  expect(await whats()).toEqual(['Credentials: AWS rejected them (The security token is expired).']);
  expect(actions).toHaveLength(1);
});

it('names an account without CDK bootstrap, or with an old one, and the command', async () => {
  parameter = { status: 400, body: '{"__type":"ParameterNotFound"}' };
  expect((await preflight()).missing).toEqual([
    {
      what: 'CDK bootstrap: 123456789012 is not bootstrapped in eu-central-1.',
      todo: 'npx cdk bootstrap aws://123456789012/eu-central-1',
    },
  ]);
  parameter = { status: 200, body: JSON.stringify({ Parameter: { Value: '5' } }) };
  expect(await whats()).toEqual([expect.stringContaining('version 5 of 123456789012')]);
  // Who may not look leaves it to the CDK.
  parameter = { status: 400, body: '{"__type":"AccessDeniedException"}' };
  expect(await whats()).toEqual([]);
});

it('names a Docker without daemon, and an AWS that does not respond', async () => {
  vi.stubEnv('CDK_DOCKER', docker('exit 1'));
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9');
  expect(await whats()).toEqual([
    expect.stringContaining('AWS: no response from eu-central-1'),
    expect.stringContaining('its daemon is not running'),
  ]);
});
